import { GONE, KubeError } from "./client/api.ts";
import { controllerContract } from "./controller.contract.ts";
import { gatewaysContract } from "./gateways.contract.ts";
import { outageContract } from "./outage.contract.ts";
import { rightsContract } from "./rights.contract.ts";
import { secretsContract } from "./secrets.contract.ts";
import { servingContract } from "./serving.contract.ts";
import { wrongValuesContract } from "./wrong-values.contract.ts";
import { MemoryCluster } from "./memory-cluster.contract.ts";

function open() {
  const memory = new MemoryCluster();
  let count = 0;
  return Promise.resolve({
    connect: () => Promise.resolve(memory.connect()),
    direct: () => Promise.resolve(memory.direct()),
    settleMs: 200,
    namespace: () => Promise.resolve(`ns-${(count += 1)}`),
    remove: (path: string) => Promise.resolve(memory.remove(path)),
    compact: () => Promise.resolve(memory.interrupt(new KubeError(GONE, "too old resource version"))),
    setAway: (isAway: boolean) => Promise.resolve(memory.setAway(isAway)),
    close: () => Promise.resolve(),
  });
}

controllerContract("an API server in memory", open);
secretsContract("an API server in memory", open, false);
gatewaysContract("an API server in memory", open);
rightsContract("an API server in memory", open);
servingContract("an API server in memory", open);
outageContract("an API server in memory", open);
wrongValuesContract("an API server in memory", open);
