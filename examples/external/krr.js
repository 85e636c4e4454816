// A mechanism for mldp in JavaScript, nothing but Node: k-ary randomised
// response over the words of a file. See EXTERNAL.md.
//
// node krr.js WORDS
const { createHash } = require("crypto");
const words = require("fs").readFileSync(process.argv[2], "utf8").trim().split(/\n/).map((line) => line.split(/\s/)[0]);

// uniform(seed) gives numbers in [0, 1) that follow from the seed alone.
function uniform(seed) {
  let n = 0;
  return () => createHash("sha256").update(seed + ":" + n++).digest().readUIntBE(0, 6) / 2 ** 48;
}

function krr(word, epsilon, next) {
  if (next() < 1 / (1 + (words.length - 1) * Math.exp(-epsilon))) return word;
  const other = words[Math.floor(next() * (words.length - 1))];
  return other !== word ? other : words[words.length - 1];
}

const write = (line) => process.stdout.write(JSON.stringify(line) + "\n");
write({ protocol: 1, name: "krr-js", version: "1", repeatable: true, guarantee: { metric: "discrete", factor: 1 } });
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, epsilon, seeds, documents } = JSON.parse(line);
  write({
    id,
    documents: documents.map((tokens, i) => {
      const next = uniform(seeds[i]);
      return tokens.map((word) => krr(words.includes(word) ? word : words[Math.floor(next() * words.length)], epsilon, next));
    }),
  });
});
