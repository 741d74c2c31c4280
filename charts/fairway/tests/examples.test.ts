// The chart accepts the values that the pages show.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findHelm } from "@fairway/testkit/helm";
import { CHART, run } from "./helm.ts";

const DOCS = join(CHART, "../../docs");
const EXAMPLES = ["start/kubernetes.md", "operate/kubernetes.md"].flatMap((page) =>
  [...readFileSync(join(DOCS, page), "utf8").matchAll(/^```yaml\n(# values\.yaml[^]*?)^```$/gm)].map(
    ([, values = ""], index) => ({ name: `${page}, example ${index + 1}`, values }),
  ),
);

const helm = findHelm();
let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "fairway-examples-"));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe("examples of values", () => {
  it("are found", () => {
    expect(EXAMPLES.length).toBeGreaterThan(6);
  });

  it.each(EXAMPLES)("render: $name", async ({ values }) => {
    const file = join(folder, "values.yaml");
    writeFileSync(file, values);
    const base = join(CHART, "ci/existing-secrets.yaml");
    const { code, output } = await run(helm, ["template", "fairway", CHART, "-f", base, "-f", file]);
    expect({ code, output }).toMatchObject({ code: 0 });
  });

  it("make the chart part of a parent chart, which can leave it out", async () => {
    const page = readFileSync(join(DOCS, "operate/kubernetes.md"), "utf8");
    const parent = join(folder, "platform");
    cpSync(CHART, join(parent, "charts/fairway"), { recursive: true });
    for (const name of ["Chart.yaml", "values.yaml"]) {
      const [, text = ""] = new RegExp(`^\`\`\`yaml\\n# the parent's ${name}\\n([^]*?)^\`\`\`$`, "m").exec(page) ?? [];
      expect(text).not.toBe("");
      writeFileSync(join(parent, name), text);
    }
    const render = (...sets: string[]) => run(helm, ["template", "platform", parent, ...sets]);
    const { code, output } = await render();
    expect(code, output).toBe(0);
    expect(output).toContain("image: registry.example.com/fairway/gateway:");
    expect(output).toContain('secretKeyRef: { name: "mariadb", key: "mariadb-password" }');
    expect((await render("--set", "fairway.enabled=false")).output.trim()).toBe("");
  });

  it("let ingress-nginx take the largest request that the gateway takes", async () => {
    const { values } = EXAMPLES.find((example) => example.values.includes("proxy-body-size")) ?? { values: "" };
    const file = join(folder, "ingress.yaml");
    writeFileSync(file, values);
    const sizes = ["33554432", "1073741824"].map(async (bytes) => {
      const base = ["-f", join(CHART, "ci/mysql.yaml"), "-f", file, "--set", `server.maxBodyBytes=${bytes}`];
      const { output } = await run(helm, ["template", "fairway", CHART, ...base]);
      return /proxy-body-size: "?'?(\d+)/.exec(output)?.[1];
    });
    expect(await Promise.all(sizes)).toEqual(["134217728", "1073741824"]);
  });
});
