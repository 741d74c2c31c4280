// `npm run cluster [-- NODES]`: a cluster to work with, until Ctrl+C. NODES real nodes need root; without a number there
// are three simulated ones.
import { startCluster, startNodeCluster } from "./cluster.ts";

const [nodes] = process.argv.slice(2);
const cluster = await (nodes ? startNodeCluster(Number(nodes)) : startCluster({ fakeNodes: 3 }));
console.log(`export KUBECONFIG=${cluster.kubeconfig}`);
const waiting = setInterval(() => {}, 60_000);
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    clearInterval(waiting);
    void cluster.stop();
  });
}
