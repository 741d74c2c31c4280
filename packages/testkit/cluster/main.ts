// `npm run cluster [-- NODES]`: a cluster to work with, until Ctrl+C. NODES real nodes need root and get the image of
// this checkout; without a number there are three simulated ones.
import { startCluster, startNodeCluster } from "./cluster.ts";
import { buildImage, createVolume } from "./image.ts";

const SMALL = "database.type=sqlite,redis.enabled=false,replicaCount=1";
const INSTALL = `helm install fairway charts/fairway --namespace models --create-namespace --wait --set ${SMALL}`;

const [asked] = process.argv.slice(2);
if (asked !== undefined && !/^[1-9]$/.test(asked)) throw new Error(`${asked} is no number of nodes: 1 to 9`);
const nodes = Number(asked ?? 0);
const cluster = await (nodes > 0 ? startReadyNodes() : startCluster({ fakeNodes: 3 }));
console.log(explain());
const waiting = setInterval(() => {}, 60_000);
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    clearInterval(waiting);
    void cluster.stop();
  });
}

/** Starts nodes on which the commands of `docs/start/kubernetes.md` work without a registry and a storage class. */
async function startReadyNodes() {
  const archive = await buildImage();
  const started = await startNodeCluster(nodes);
  try {
    await started.load(archive);
    await createVolume(started, "volume");
    return started;
  } catch (error) {
    await started.stop();
    throw error;
  }
}

/** Returns the commands that come next. The tests run the commands of these lines. */
function explain(): string {
  const next =
    nodes > 0
      ? [
          `Each of the ${nodes} nodes has the image, and one volume waits for SQLite:`,
          `  ${INSTALL}`,
          "  helm test fairway --namespace models",
          "  kubectl --namespace models port-forward service/fairway 3000:80",
          "  then open http://127.0.0.1:3000",
        ]
      : [
          "The nodes are simulated: pods become ready, and nothing runs. For real nodes: npm run cluster -- 2",
          "  kubectl get nodes",
        ];
  return [
    "Kubernetes is ready. In another terminal, in this folder:",
    `  export KUBECONFIG=${cluster.kubeconfig}`,
    `  export PATH=${cluster.programs}:$PATH   # kubectl and helm`,
    ...next,
    "Ctrl+C ends it.",
  ].join("\n");
}
