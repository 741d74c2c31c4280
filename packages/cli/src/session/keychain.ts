import { spawnSync } from "node:child_process";
import { CliError, EXIT } from "../core/exit.ts";

/**
 * The operating system's store for secrets, used through its program. Secrets go through pipes, never through
 * arguments.
 */
interface Vault {
  readonly program: string;
  /** How to install the program. */
  readonly source: string;
  store(account: string, secret: string): Call;
  read(account: string): Call;
  remove(account: string): Call;
}

interface Call {
  readonly args: readonly string[];
  readonly input?: string;
}

const SERVICE = "fairway";

const SECRET_SERVICE: Vault = {
  program: "secret-tool",
  source: "the package libsecret-tools, and a keyring that is unlocked",
  store: (account, secret) => ({
    args: ["store", `--label=Fairway ${account}`, "service", SERVICE, "account", account],
    input: secret,
  }),
  read: (account) => ({ args: ["lookup", "service", SERVICE, "account", account] }),
  remove: (account) => ({ args: ["clear", "service", SERVICE, "account", account] }),
};

const KEYCHAIN: Vault = {
  program: "security",
  source: "macOS",
  store: (account, secret) => ({
    args: ["-i"],
    input: `add-generic-password -U -s ${SERVICE} -a ${quoted(account)} -w ${quoted(secret)}\n`,
  }),
  read: (account) => ({ args: ["find-generic-password", "-s", SERVICE, "-a", account, "-w"] }),
  remove: (account) => ({ args: ["delete-generic-password", "-s", SERVICE, "-a", account] }),
};

const VAULT = "$v=New-Object Windows.Security.Credentials.PasswordVault";
const TYPES =
  "[void][Windows.Security.Credentials.PasswordVault,Windows.Security.Credentials,ContentType=WindowsRuntime]";

const CREDENTIALS: Vault = {
  program: "powershell.exe",
  source: "Windows",
  store: (account, secret) =>
    powershell(
      `$v.Add((New-Object Windows.Security.Credentials.PasswordCredential('${SERVICE}',${literal(account)},${literal(secret)})))`,
    ),
  read: (account) =>
    powershell(
      `$c=$v.Retrieve('${SERVICE}',${literal(account)});$c.RetrievePassword();[Console]::Out.Write($c.Password)`,
    ),
  remove: (account) => powershell(`$v.Remove($v.Retrieve('${SERVICE}',${literal(account)}))`),
};

function powershell(command: string): Call {
  return { args: ["-NoProfile", "-Command", "-"], input: `${TYPES};${VAULT};${command}\n` };
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, (letter) => `\\${letter}`)}"`;
}

function selectVault(system: NodeJS.Platform): Vault {
  if (system === "darwin") return KEYCHAIN;
  return system === "win32" ? CREDENTIALS : SECRET_SERVICE;
}

const vault = selectVault(process.platform);

/** Stores the token of a context; `account` is the file that describes it. */
export function storeInKeychain(account: string, secret: string): void {
  run(vault.store(account, secret), "keep the token");
}

export function readFromKeychain(account: string): string {
  const secret = run(vault.read(account), "give the token back").trim();
  if (secret !== "") return secret;
  throw new CliError(
    "the keychain holds no token of this context",
    EXIT.notSignedIn,
    "sign in again with `fairway login`",
  );
}

/** Removes a token; a missing token is not an error. */
export function removeFromKeychain(account: string): void {
  call(vault.remove(account));
}

function run(wanted: Call, what: string): string {
  const { error, status, stdout, stderr } = call(wanted);
  if (error)
    throw new CliError(
      `the keychain is not available: ${vault.program} cannot be run`,
      EXIT.usage,
      `install ${vault.source}, or leave out --store keychain: the token then stays in a file that only you can read`,
    );
  if (status === 0) return stdout;
  const said = stderr.trim().split("\n")[0] ?? "";
  // A missing entry is not an error of the keychain.
  if (said === "") return "";
  throw new CliError(
    `the keychain did not ${what}: ${said}`,
    EXIT.notSignedIn,
    "unlock it, or sign in again with `fairway login --store file`",
  );
}

/** A locked keychain prompts in a window of its own. */
const LONGEST_MS = 60_000;

function call({ args, input = "" }: Call) {
  return spawnSync(vault.program, args, { input, encoding: "utf8", timeout: LONGEST_MS, windowsHide: true });
}
