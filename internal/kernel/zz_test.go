package kernel
import ("testing";"math/rand/v2";"fmt")
func BenchmarkZ(b *testing.B){
 rng:=rand.New(rand.NewPCG(1,2))
 x:=random(rng,1<<22); y:=random(rng,1<<20); c:=make([]float32,1<<21)
 for _,s:=range []struct{name string; ta bool; m,n,k,lda,ldb int; beta float32}{
  {"fwd",false,64,256,64,64,256,0},{"dh",false,64,64,256,256,64,0},{"dWh",true,64,256,128,64,256,1},{"dWh64",true,64,256,64,64,256,1},
  {"proj50",false,4600,256,51,51,256,0},{"proj100",false,4600,256,101,101,256,0},{"dWx50",true,51,256,128,51,256,1},{"dWx100",true,101,256,128,101,256,1},{"dWx300",true,301,256,128,301,256,1},{"proj300",false,4600,256,301,301,256,0},
  {"pad",true,64,256,128,64,272,1},{"padfwd",false,64,256,64,64,272,0},{"ideal14",false,14,32,256,256,32,0},{"ideal8",false,8,32,256,256,32,0},
 }{
  b.Run(s.name,func(b *testing.B){
   for b.Loop(){ Gemm(s.ta,false,s.m,s.n,s.k,1,x,s.lda,y,s.ldb,s.beta,c,s.n) }
   b.ReportMetric(float64(s.m*s.n*s.k)*float64(b.N)/b.Elapsed().Seconds()/1e9,"GMAC/s")
  })
 }
 _=fmt.Sprint
}
