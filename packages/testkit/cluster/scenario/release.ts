import { setTimeout as sleep } from "node:timers/promises";
import { createChannel, createToken, setModelRatios, signIn, type Session } from "../../src/api.ts";
import { ROOT_PASSWORD } from "../../src/gateway.ts";
import { CHART, NAMESPACE, type World } from "./world.ts";
import { SCENARIO_MODELS } from "./traffic.ts";

/** Quota of one token; `books.ts` of the chaos tests expects this value. */
const RATIO = 50;
const REACHED_LIMIT_MS = 30_000;

/** One installation of the chart, reached through its Service. */
export interface Release {
  readonly name: string;
  readonly url: string;
  /** Seconds from `helm install` to ready pods. */
  readonly seconds: number;
  upgrade(...args: string[]): Promise<string>;
  pods(): Promise<readonly string[]>;
  /** Restarts and readiness of a pod's container. */
  readPodState(pod: string): Promise<string>;
  /** Runs a program of the image in a pod of the Deployment. */
  exec(...command: string[]): Promise<string>;
  /** Returns what the cluster reported about its pods, such as failed probes, which may explain lost requests. */
  warnings(): Promise<string>;
  /** Returns objects of the release that remain in the namespace, as `kind/name`. */
  remains(): Promise<readonly string[]>;
}

export async function install({ cluster }: World, name: string, values: object): Promise<Release> {
  const full = `${name}-fairway`;
  const flags = ["--namespace", NAMESPACE, "--set-json", JSON.stringify(values)];
  const started = performance.now();
  const warnings = () =>
    cluster.kubectl("get", "events", "-n", NAMESPACE, "--field-selector", "type=Warning", "--no-headers");
  try {
    await cluster.helm("install", name, CHART, ...flags, "--wait", "--timeout", "180s");
  } catch (error) {
    throw new Error(`${(error as Error).message}\nThe cluster warned:\n${await warnings()}`, { cause: error });
  }
  const seconds = (performance.now() - started) / 1_000;
  const own = ["-n", NAMESPACE, "-l", `app.kubernetes.io/instance=${name}`];
  const address = await cluster.kubectl("get", "service", full, "-n", NAMESPACE, "-o", "jsonpath={.spec.clusterIP}");
  const url = `http://127.0.0.1:${await cluster.forward(`${address}:80`)}`;
  await untilReached(url);
  return {
    name,
    url,
    seconds,
    upgrade: (...args) => cluster.helm("upgrade", name, CHART, ...flags, ...args, "--wait", "--timeout", "180s"),
    pods: async () => parsePodNames(await cluster.kubectl("get", "pods", ...own, "-o", "name")),
    readPodState: async (pod) => {
      const status =
        "{.status.containerStatuses[0].restartCount} restarts, ready: {.status.containerStatuses[0].ready}";
      return cluster.kubectl("get", "pod", pod, "-n", NAMESPACE, "-o", `jsonpath=${status}`);
    },
    exec: (...command) => cluster.kubectl("exec", "-n", NAMESPACE, `deployment/${full}`, "--", ...command),
    warnings,
    remains: async () => {
      const kinds = "all,secret,configmap,serviceaccount,role,rolebinding,networkpolicy,poddisruptionbudget,pvc";
      return (await cluster.kubectl("get", kinds, ...own, "-o", "name")).split("\n").filter((line) => line !== "");
    },
  };
}

function parsePodNames(lines: string): string[] {
  return lines
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.replace("pod/", ""));
}

/** kube-proxy learns of ready pods a moment later than Helm. */
async function untilReached(url: string): Promise<void> {
  const limit = performance.now() + REACHED_LIMIT_MS;
  for (;;) {
    const status = await fetch(`${url}/api/status`).then(
      (answer) => answer.status,
      (error: unknown) => String(error),
    );
    if (status === 200) return;
    if (performance.now() > limit) throw new Error(`${url} answered ${status}`);
    await sleep(200);
  }
}

/** Creates a channel to the fake upstream, prices and a token, like an operator; returns the token. */
export async function prepare(world: World, url: string): Promise<string> {
  const root: Session = await signIn(url, "root", ROOT_PASSWORD);
  await setModelRatios(root, Object.fromEntries(SCENARIO_MODELS.map((model) => [model, RATIO])));
  await createChannel(root, {
    name: "fake",
    base_url: world.seen(world.upstream.url),
    models: SCENARIO_MODELS.join(","),
    auto_ban: 0,
  });
  return createToken(root, { name: "scenario" });
}
