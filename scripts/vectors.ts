// Prints which vectors pass, by provider: `npm run vectors [-- name-prefix …]`. `-- --sync FOLDER` updates the copies
// from a folder of newer ones.
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadVectors, VECTORS } from "../packages/gateway/test/vectors/load.ts";
import { runVector } from "../packages/gateway/test/vectors/run.ts";

const args = process.argv.slice(2);
if (args.includes("--sync")) sync(args.find((arg) => !arg.startsWith("--")));
else await report(args);

function sync(source: string | undefined): void {
  if (source === undefined) throw new Error("name the folder of the newer vectors: --sync FOLDER");
  if (!existsSync(source)) throw new Error(`${source} does not exist`);
  const target = fileURLToPath(VECTORS);
  const names = new Set(readdirSync(source).filter((name) => name.endsWith(".json")));
  for (const name of readdirSync(target)) if (!names.has(name)) rmSync(join(target, name));
  for (const name of names) {
    const isSame =
      existsSync(join(target, name)) && readFileSync(join(target, name)).equals(readFileSync(join(source, name)));
    if (!isSame) cpSync(join(source, name), join(target, name));
  }
  process.stdout.write(`${names.size} vectors from ${basename(source)}\n`);
}

async function report(prefixes: readonly string[]): Promise<void> {
  const failures = new Map<string, string[]>();
  const totals = new Map<string, number>();
  for (const vector of loadVectors()) {
    if (prefixes.length > 0 && !prefixes.some((prefix) => vector.name.startsWith(prefix))) continue;
    const group = vector.name.split("-")[0] ?? "";
    totals.set(group, (totals.get(group) ?? 0) + 1);
    try {
      await runVector(vector);
    } catch (error) {
      const list = failures.get(group) ?? [];
      failures.set(group, [...list, `${vector.name}: ${error instanceof Error ? error.message : String(error)}`]);
    }
  }
  let passed = 0;
  let all = 0;
  for (const [group, total] of [...totals].sort(([a], [b]) => a.localeCompare(b))) {
    const broken = failures.get(group) ?? [];
    passed += total - broken.length;
    all += total;
    process.stdout.write(`${group.padEnd(16)} ${total - broken.length}/${total}\n`);
    for (const line of broken) process.stdout.write(`  ${line}\n`);
  }
  process.stdout.write(`${"all".padEnd(16)} ${passed}/${all}\n`);
}
