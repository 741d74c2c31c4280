import { InvalidArgumentError, type Command } from "commander";
import type { CommandContext } from "../../session/command-context.ts";
import { examples, integer, positive, yes } from "../../core/arguments.ts";
import type { KubeOptions } from "./cluster.ts";
import type { ForwardOptions } from "./forward.ts";
import type { LogOptions } from "./logs.ts";
import type { ReleaseOptions, UninstallOptions } from "./release.ts";

export const SELECTOR = "app.kubernetes.io/name=fairway";
const collect = (text: string, before: string[] = []) => [...before, text];

/** Commands for an installation in a Kubernetes cluster. They use the kubeconfig and need no sign-in to the gateway. */
export function kubeCommands(program: Command, context: CommandContext): void {
  const { output, globals, session } = context;
  const kube = program.command("kube").description("the installation in a Kubernetes cluster");
  const status = place(kube.command("status"))
    .description("pods, leader, autoscaler and custom resources at a glance")
    .action(async (options: KubeOptions) => (await import("./status.ts")).showKubeStatus(options, output()));
  examples(status, "fairway kube status -n ai", "fairway kube status -n ai -o json | jq .troubles");
  const doctor = place(kube.command("doctor"))
    .description("check cluster, deployment, rights and resources; exit 1 where a check fails")
    .action(async (options: KubeOptions) => (await import("./doctor.ts")).runDoctor(options, output()));
  examples(doctor, "fairway kube doctor -n ai");
  const logs = place(kube.command("logs"))
    .description("logs of all pods together, the pod in front of each line")
    .option("-f, --follow", "continue with new lines and new pods")
    .option("--since <seconds>", "only lines of that many seconds", positive)
    .option("--tail <lines>", "lines of each pod at the start; -1 = all", integer, 100)
    .option("--container <name>", "container of the pods", "gateway")
    .action(async (options: LogOptions) => (await import("./logs.ts")).showLogs(options, output()));
  examples(logs, "fairway kube logs -n ai -f", "fairway kube logs -n ai --since 600 | grep ERROR");
  const leader = place(kube.command("leader"))
    .description("who does the work that must not run twice, and the Lease; exit 1 where no pod says that it leads")
    .option("--step-down", "make the leader give way to another pod (super administrator)")
    .action(async ({ stepDown, ...options }: KubeOptions & { readonly stepDown?: true }) =>
      stepDown
        ? (await import("./step-down.ts")).stepDown(options, await session(), output())
        : (await import("./leader.ts")).showLeader(options, output()),
    );
  examples(
    leader,
    "fairway kube leader -n ai",
    "fairway kube leader -n ai -o json | jq -r '.leaders[]'",
    "fairway kube leader -n ai --step-down",
  );
  gitopsCommands(kube, context);
  const forward = place(kube.command("port-forward"))
    .argument("[local]", "port of this machine; 3000 when left out, 9090 with --admin", portNumber)
    .description("the console and the API on this machine, also when their pod is replaced")
    .option("--admin", "probes and metrics instead")
    .option("--pod <name>", "this pod only")
    .action(async (local: number | undefined, options: ForwardOptions) =>
      (await import("./forward.ts")).runForward(local, options, output()),
    );
  examples(forward, "fairway kube port-forward -n ai", "fairway kube port-forward 9090 --admin --pod fairway-6c5d-x2k");
  const isDry = () => globals().dryRun === true;
  kindCommands(kube, output, isDry);
  releaseCommands(kube, context, isDry);
}

function gitopsCommands(kube: Command, { output, session, globals }: CommandContext): void {
  const gitops = kube
    .command("gitops")
    .description("the resources that Git keeps, and the controller that follows them");
  const list = place(gitops.command("list", { isDefault: true }))
    .alias("status")
    .description("resources, their conditions, what differs, and what is paused or overridden by hand until when")
    .action(async (options: KubeOptions) => (await import("./gitops.ts")).showGitops(options, output()));
  examples(list, "fairway kube gitops -n ai", "fairway kube gitops -n ai -o jsonl | jq 'select(.ready != \"yes\")'");
  const reconcile = place(gitops.command("reconcile"))
    .argument("<resource>", "kind and name, such as channel/main")
    .description("compare a resource with the gateway now")
    .action(async (resource: string, options: KubeOptions) =>
      (await import("./gitops.ts")).reconcileNow(resource, options, globals().dryRun === true, output()),
    );
  examples(reconcile, "fairway kube gitops reconcile channel/main -n ai");
  for (const verb of ["pause", "resume"] as const) {
    const command = place(gitops.command(verb))
      .description(
        verb === "pause"
          ? "leave all resources alone, also later ones, until `resume` (super administrator)"
          : "follow the resources again after `pause` (super administrator)",
      )
      .action(async (options: KubeOptions) =>
        (await import("./pause.ts")).setPaused(verb === "pause", options, await session(), output()),
      );
    examples(command, `fairway kube gitops ${verb} -n ai`);
  }
}

function kindCommands(kube: Command, output: CommandContext["output"], isDry: () => boolean): void {
  const crds = kube.command("crds").description("the definitions of Channel, OptionSet, Token and Budget");
  const load = () => import("./crds.ts");
  const status = place(crds.command("status"))
    .description("whether the cluster has those of this version; exit 1 where it does not")
    .action(async (options: KubeOptions) => (await load()).showKinds(options, output()));
  examples(status, "fairway kube crds status");
  const install = place(crds.command("install"))
    .alias("upgrade")
    .description("bring the definitions to this version")
    .action(async (options: KubeOptions) => (await load()).installKinds(options, isDry(), output()));
  examples(install, "fairway kube crds install", "fairway export --crd | kubectl diff -f -");
}

function releaseCommands(kube: Command, { output, io }: CommandContext, isDry: () => boolean): void {
  const load = () => import("./release.ts");
  for (const verb of ["install", "upgrade"] as const) {
    const command = release(place(kube.command(verb)))
      .description(
        `${verb} the chart with Helm, whose command is printed${verb === "install" ? "; in a terminal, prompts for the values unless --values or --set gives some" : ""}`,
      )
      .option("--chart <chart>", "folder, archive or oci:// address of the chart", "charts/fairway")
      .option("--values <file>", "file of values; several times for several files", collect)
      .option("--set <path=value>", "a value; several times for several", collect)
      .option("--chart-version <version>", "version of a chart with an address")
      .option("--no-crds", "leave the definitions of the custom resources as they are")
      .action(async (options: ReleaseOptions) =>
        (await load()).applyRelease(
          verb,
          { ...options, dryRun: isDry(), asks: verb === "install" && io.isTerminal },
          output(),
        ),
      );
    examples(
      command,
      ...(verb === "install" ? ["fairway kube install -n ai"] : []),
      `fairway kube ${verb} -n ai --values values.yaml`,
      `fairway kube ${verb} -n ai --values values.yaml --dry-run`,
    );
  }
  const uninstall = release(place(kube.command("uninstall")))
    .description("remove the release; secrets, volumes and definitions stay")
    .addOption(yes())
    .action(async (options: UninstallOptions) =>
      (await load()).removeRelease({ ...options, dryRun: isDry() }, output()),
    );
  examples(uninstall, "fairway kube uninstall -n ai --dry-run", "fairway kube uninstall -n ai --yes");
}

function release(command: Command): Command {
  return command.option("--release <name>", "name of the Helm release", "fairway");
}

function portNumber(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError("give a port from 1 to 65535, or 0 for any free one.");
}

function place(command: Command): Command {
  return command
    .option("-n, --namespace <namespace>", "namespace of the release; that of the context when left out")
    .option("--kube-context <name>", "context of the kubeconfig")
    .option("--selector <labels>", "labels of the deployment and its pods", SELECTOR);
}
