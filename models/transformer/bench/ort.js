// node ort.js MODEL OUTPUT BATCH LENGTH PIECES SECONDS DUMP: what BenchmarkGraph
// does, by onnxruntime; compares its result with the one in DUMP.
const ort = require('onnxruntime-node')
const fs = require('fs')
const [model, output, batch, length, pieces, seconds] = process.argv.slice(2, 8).map(x => isNaN(x) ? x : Number(x))

async function main () {
  const session = await ort.InferenceSession.create(model + '/model.onnx',
    { intraOpNumThreads: 1, interOpNumThreads: 1, executionMode: 'sequential' })
  const ids = new BigInt64Array(batch * length)
  for (let i = 0; i < ids.length; i++) ids[i] = BigInt(i * 37 % pieces)
  const tensor = numbers => new ort.Tensor('int64', numbers, [batch, length])
  const inputs = { input_ids: tensor(ids), attention_mask: tensor(new BigInt64Array(ids.length).fill(1n)) }
  let best = Infinity
  let result
  for (const end = Date.now() + 1000 * seconds; Date.now() < end;) {
    const start = process.hrtime.bigint()
    result = (await session.run(inputs))[output].data
    best = Math.min(best, Number(process.hrtime.bigint() - start) / 1e9)
  }
  const bytes = fs.readFileSync(process.argv[8])
  const ours = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
  let [difference, ab, aa, bb] = [ours.length === result.length ? 0 : Infinity, 0, 0, 0]
  for (let i = 0; i < ours.length; i++) {
    difference = Math.max(difference, Math.abs(ours[i] - result[i]))
    ab += ours[i] * result[i]; aa += ours[i] ** 2; bb += result[i] ** 2
  }
  console.log((batch / best).toFixed(1), difference.toExponential(1), (ab / Math.sqrt(aa * bb)).toFixed(9))
}

main()
