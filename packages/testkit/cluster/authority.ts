import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const openssl = promisify(execFile);
const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30"];
const ALT_NAMES = [
  ...["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"].map((name) => `DNS:${name}`),
  ...["127.0.0.1", "172.31.0.1", "10.96.0.1"].map((address) => `IP:${address}`),
];

/** Certificates and accounts of one cluster, as files in its folder. */
export class Authority {
  readonly folder: string;
  /** Account -> token; `admin` may do everything, `n1` what node n1 may do. */
  readonly #tokens: ReadonlyMap<string, string>;

  constructor(folder: string, nodes: readonly string[]) {
    this.folder = folder;
    this.#tokens = new Map(["admin", ...nodes].map((account) => [account, randomBytes(16).toString("hex")]));
  }

  file(name: string): string {
    return join(this.folder, name);
  }

  async create(): Promise<void> {
    await this.#request("ca", "/CN=test-ca");
    await Promise.all([
      this.#certify("apiserver", "/CN=kube-apiserver"),
      this.#certify("kubelet-client", "/O=system:masters/CN=kube-apiserver-kubelet-client"),
      this.#certify("front-proxy", "/CN=front-proxy"),
      openssl("openssl", ["genpkey", "-algorithm", "RSA", "-out", this.file("service-accounts.key")]),
    ]);
    const lines = [...this.#tokens].map(([account, token]) =>
      account === "admin"
        ? `${token},admin,admin,"system:masters"`
        : `${token},system:node:${account},${account},"system:nodes"`,
    );
    writeFileSync(this.file("tokens.csv"), `${lines.join("\n")}\n`, { mode: 0o600 });
  }

  /** Writes a kubeconfig of the account for the API server at `address`; returns its path. */
  kubeconfig(name: string, account: string, address: string): string {
    const authority = readFileSync(this.file("ca.crt")).toString("base64");
    const config = {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "test", cluster: { server: `https://${address}`, "certificate-authority-data": authority } }],
      users: [{ name: account, user: { token: this.#tokens.get(account) } }],
      contexts: [{ name: "test", context: { cluster: "test", user: account } }],
      "current-context": "test",
    };
    writeFileSync(this.file(name), JSON.stringify(config), { mode: 0o600 });
    return this.file(name);
  }

  async #certify(name: string, subject: string): Promise<void> {
    const signer = ["-CA", this.file("ca.crt"), "-CAkey", this.file("ca.key")];
    const extensions = [
      `subjectAltName=${ALT_NAMES.join(",")}`,
      "basicConstraints=critical,CA:FALSE",
      "extendedKeyUsage=serverAuth,clientAuth",
    ];
    await this.#request(name, subject, ...signer, ...extensions.flatMap((extension) => ["-addext", extension]));
  }

  async #request(name: string, subject: string, ...more: string[]): Promise<void> {
    const files = ["-keyout", this.file(`${name}.key`), "-out", this.file(`${name}.crt`)];
    await openssl("openssl", ["req", "-x509", ...NEW_KEY, "-subj", subject, ...files, ...more]);
  }
}
