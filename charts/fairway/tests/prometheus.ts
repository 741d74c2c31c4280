import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { freePort } from "@fairway/testkit";
import { stringify } from "yaml";

interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [time: number, value: string];
}

export interface Prometheus {
  readonly query: (expr: string) => Promise<readonly Sample[]>;
  /** Returns the choices of a dashboard variable for `label_values(series, label)`. */
  readonly labelValues: (series: string, label: string) => Promise<readonly string[]>;
  readonly stop: () => Promise<void>;
}

/** Runs promtool, which prints its findings and throws on an error. */
export function promtool(folder: string, ...args: string[]): string {
  return execFileSync("promtool", args, { cwd: folder, encoding: "utf8" });
}

/**
 * Starts a Prometheus that scrapes one or several admin listeners every second, or at the interval that is given, with the labels that its operator would add, and
 * evaluates the rules, if any, as often.
 */
export async function startPrometheus(
  target: string | readonly string[],
  labels: Readonly<Record<string, string>>,
  rules?: object,
  interval = "1s",
): Promise<Prometheus> {
  const folder = mkdtempSync(join(tmpdir(), "fairway-prometheus-"));
  const url = `http://127.0.0.1:${await freePort()}`;
  const targets = [target].flat().map((one) => new URL(one).host);
  const job = { job_name: "gateway", static_configs: [{ targets, labels }] };
  writeFileSync(
    join(folder, "prometheus.yaml"),
    stringify({
      global: { scrape_interval: interval, scrape_timeout: interval, evaluation_interval: interval },
      scrape_configs: [job],
      ...(rules && { rule_files: [join(folder, "rules.yaml")] }),
    }),
  );
  if (rules) writeFileSync(join(folder, "rules.yaml"), stringify(rules));
  const child = spawn(
    "prometheus",
    [
      `--config.file=${join(folder, "prometheus.yaml")}`,
      `--storage.tsdb.path=${folder}`,
      `--web.listen-address=${new URL(url).host}`,
    ],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  const endWithTests = () => child.kill("SIGKILL");
  process.once("exit", endWithTests);
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  await new Promise<void>((resolve, reject) => {
    const lines: string[] = [];
    createInterface({ input: child.stderr }).on("line", (line) => {
      lines.push(line);
      if (line.includes("Server is ready to receive web requests")) resolve();
    });
    child.once("error", reject);
    void ended.then(() => reject(new Error(`prometheus ended:\n${lines.join("\n")}`)));
  });
  const ask = async <T>(path: string): Promise<T> => {
    const answer = (await (await fetch(`${url}/api/v1/${path}`)).json()) as { error?: string; data: T };
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer.data;
  };
  return {
    query: async (expr) => (await ask<{ result: Sample[] }>(`query?query=${encodeURIComponent(expr)}`)).result,
    labelValues: (series, label) => ask(`label/${label}/values?match[]=${encodeURIComponent(series)}`),
    async stop() {
      process.off("exit", endWithTests);
      child.kill("SIGKILL");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
