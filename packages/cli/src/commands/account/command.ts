import { Option, type Command } from "commander";
import { SELECTOR } from "../kube/command.ts";
import type { KubeLoginOptions } from "./kube-login.ts";
import type { LogoutOptions } from "./logout.ts";
import type { CommandContext } from "../../session/command-context.ts";
import { examples, createNameParser, positive, yes } from "../../core/arguments.ts";

export function accountCommands(program: Command, context: CommandContext): void {
  const { env, output, session, transport } = context;
  loginCommand(program, context);
  const logout = program
    .command("logout")
    .description("forget the sign-in")
    .option("--revoke", "let the gateway forget the token that `fairway login` made, too")
    .option("--all", "of every context")
    .action(async (options: LogoutOptions) =>
      (await import("./logout.ts")).runLogout(options, output(), { env: env(), transport: await transport() }),
    );
  examples(logout, "fairway logout --revoke", "fairway logout --all");
  contextCommands(program, context);
  const whoami = program
    .command("whoami")
    .description("the signed-in user: role, group, balance, end of the token")
    .action(async () => {
      const { client, profile } = await session();
      return (await import("./whoami.ts")).whoAmI(client, profile, output());
    });
  examples(whoami, "fairway whoami -o json | jq .quota");
  const doctor = program
    .command("doctor")
    .description(
      "look for what is wrong between you and the gateway: files, name, certificate, versions, sign-in, limits, proxies, clock",
    )
    .option("--fix", "close the sign-in to other users who can read it")
    .action(async (options: { fix?: boolean }) => {
      const { closeToOthers, runDoctor } = await import("./doctor.ts");
      if (options.fix) closeToOthers(env(), output());
      return runDoctor({ env: env(), session }, output());
    });
  examples(doctor, "fairway doctor", "fairway -c prod doctor -o json");
}

function loginCommand(program: Command, { env, output, transport }: CommandContext): void {
  const login = program
    .command("login")
    .argument("[server]", "address of the gateway; https unless it names http or this machine", "http://127.0.0.1:3000")
    .description("sign in and remember it")
    .option("-u, --username <name>", "asked when absent; the password always is")
    .option("--token-stdin", "read an access token from standard input instead; asked for in a terminal")
    .addOption(
      new Option(
        "--user-id <number>",
        "with --token-stdin: whose token it is, where the gateway requires the id",
      ).argParser(positive),
    )
    .option("--replace-token", "replace the account's only access token, on gateways that have one for each account")
    .addOption(new Option("--password-stdin", "read the password from standard input").conflicts("tokenStdin"))
    .option("--scope <list>", "what the token may do, such as channels:read,logs:read; everything when absent")
    .option("--expires <days>", "when the token ends; never when absent")
    .option("--insecure-http", "allow plain http beyond this machine")
    .addOption(store())
    .option("--kube", "sign in through a pod of the cluster in the kubeconfig; as root with the chart's Secret")
    .option("-n, --namespace <namespace>", "with --kube: namespace of the release; that of the context when left out")
    .option("--kube-context <name>", "with --kube: context of the kubeconfig")
    .addOption(new Option("--selector <labels>", "with --kube: labels of the pods").default(SELECTOR))
    .action(async (server: string, options: KubeLoginOptions & { readonly kube?: boolean }, command: Command) => {
      const { noteContext, runLogin } = await import("./login.ts");
      const place = { env: env(), transport: await transport() };
      if (options.kube) await (await import("./kube-login.ts")).runKubeLogin(command.args[0], options, output(), place);
      else await runLogin(server, options, output(), place);
      noteContext(env(), output());
    });
  examples(
    login,
    "fairway login https://ai.example.com",
    "fairway login https://ai.example.com --scope read --expires 30",
    "pass fairway | fairway login https://ai.example.com --token-stdin",
    "fairway login --kube -n ai",
  );
}

function store(): Option {
  return new Option(
    "--store <place>",
    "of the token: a file that only you can read, or the keychain of the system; as before, or file",
  ).choices(["file", "keychain"]);
}

function contextCommands(
  program: Command,
  { env, output, transport }: Pick<CommandContext, "env" | "output" | "transport">,
): void {
  const load = () => import("./contexts.ts");
  const context = program.command("context").alias("contexts").description("sign-ins to several gateways");
  const list = context
    .command("list")
    .description("names and servers; * marks the one in use")
    .action(async () => (await load()).listContexts(env(), output()));
  examples(
    list,
    "fairway --context prod login https://ai.example.com",
    "fairway context list",
    "fairway -c prod channel list",
    "fairway -c prod logout --revoke",
  );
  const add = context
    .command("add")
    .argument("<name>", "of the new sign-in")
    .argument("<server>", "address of the gateway")
    .description("sign in to another gateway; commands still go where they went")
    .option("-u, --username <name>", "asked when absent; the password always is")
    .option("--token-stdin", "read an access token from standard input instead; asked for in a terminal")
    .addOption(new Option("--password-stdin", "read the password from standard input").conflicts("tokenStdin"))
    .option("--insecure-http", "allow plain http beyond this machine")
    .addOption(store())
    .action(async (name: string, server: string, options: object) =>
      (await load()).addContext({ env: env(), transport: await transport() }, { name, server, options }, output()),
    );
  examples(add, "pass staging | fairway context add staging https://ai.staging.example.com --token-stdin");
  const use = context
    .command("use")
    .argument("<name>", "as `fairway context list` shows it", createNameParser("context"))
    .description("what commands use by default")
    .action(async (name: string) => (await load()).chooseContext(env(), name, output()));
  examples(use, "fairway context use prod", "fairway context use default");
  const show = context
    .command("show")
    .description("the name of the one in use")
    .action(async () => (await load()).showContext(env(), output()));
  examples(show, "fairway context show");
  changingContexts(context, { env, output });
}

function changingContexts(context: Command, { env, output }: Pick<CommandContext, "env" | "output">): void {
  const load = () => import("./contexts.ts");
  const set = context
    .command("set")
    .argument("<name>", "as `fairway context list` shows it", createNameParser("context"))
    .argument(
      "<property...>",
      "protected=true: deletions require its name; read-only=true: nothing is changed through it",
    )
    .description("guard a sign-in against mistakes")
    .action(async (name: string, properties: string[]) => (await load()).setContext(env(), name, properties, output()));
  examples(set, "fairway context set prod protected=true", "fairway context set prod read-only=false");
  const rename = context
    .command("rename")
    .argument("<name>", "as `fairway context list` shows it", createNameParser("context"))
    .argument("<new-name>")
    .description("give a sign-in another name")
    .action(async (from: string, to: string) => (await load()).renameContext(env(), { from, to }, output()));
  examples(rename, "fairway context rename default home");
  const remove = context
    .command("remove")
    .argument("<name>", "as `fairway context list` shows it", createNameParser("context"))
    .description("forget a sign-in; its token stays valid")
    .addOption(yes())
    .action(async (name: string, options: { yes?: boolean }) =>
      (await load()).removeContext(env(), name, options.yes, output()),
    );
  examples(remove, "fairway context remove staging --yes");
}
