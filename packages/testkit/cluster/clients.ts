import { spawn } from "node:child_process";
import { join } from "node:path";

export interface Clients {
  /** The folder of both programs. */
  readonly programs: string;
  /** Runs kubectl and returns its output; rejects with its message if it fails. */
  kubectl(...args: string[]): Promise<string>;
  /** `kubectl apply` of YAML or JSON. */
  apply(manifest: string, ...args: string[]): Promise<string>;
  helm(...args: string[]): Promise<string>;
}

/** kubectl and Helm for the cluster of a kubeconfig. */
export function createClients(programs: string, kubeconfig: string): Clients {
  const call = (program: string, args: readonly string[], input = "") =>
    runWithInput(join(programs, program), args, { ...process.env, KUBECONFIG: kubeconfig }, input);
  return {
    programs,
    kubectl: (...args) => call("kubectl", args),
    apply: (manifest, ...args) => call("kubectl", ["apply", "-f", "-", ...args], manifest),
    helm: (...args) => call("helm", args),
  };
}

function runWithInput(command: string, args: readonly string[], env: NodeJS.ProcessEnv, input: string) {
  return new Promise<string>((resolve, reject) => {
    const child = spawn(command, args, { env, stdio: ["pipe", "pipe", "pipe"] });
    let output = "";
    let errors = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(`${command} ${args.join(" ")} ended with ${code}:\n${errors}${output}`));
    });
    child.stdin.on("error", () => {
      // The program exited before it had read everything; its exit code says why.
    });
    child.stdin.end(input);
  });
}
