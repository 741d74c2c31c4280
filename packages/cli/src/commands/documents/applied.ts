import { systemReplicas, type Client, type Replica } from "@fairway/wire";
import { setTimeout as pause } from "node:timers/promises";
import { CliError, EXIT } from "../../core/exit.ts";
import type { Output } from "../../print/output.ts";

const POLL_MS = 500;

/** Waits until each replica uses the current channels and options. */
export async function waitUntilApplied(client: Client, timeoutMs: number, output: Output): Promise<void> {
  const end = Date.now() + timeoutMs;
  const { siblings } = await client.call(systemReplicas, {});
  const wanted = Number(siblings["revision"]);
  if (!Number.isFinite(wanted))
    throw new CliError(
      "the changes are made, but this gateway does not say which replicas use them",
      EXIT.failure,
      "update the gateway, or leave out --wait",
    );
  for (;;) {
    const { data: replicas } = await client.call(systemReplicas, {});
    const behind = replicas.filter(({ revision }) => revision < wanted);
    if (replicas.length > 0 && behind.length === 0) {
      const count = replicas.length === 1 ? "The replica uses" : `All ${replicas.length} replicas use`;
      return output.note(`${count} the documents.`);
    }
    if (Date.now() + POLL_MS > end) throw tooLate(behind, replicas.length, timeoutMs);
    await pause(POLL_MS);
  }
}

function tooLate(behind: readonly Replica[], count: number, timeoutMs: number): CliError {
  const names = behind.map(({ instance, is_lost: isLost }) => `${instance}${isLost ? " (lost)" : ""}`).join(", ");
  const who = count === 0 ? "no replica has reported itself" : `${behind.length} of ${count} replicas do not use them`;
  return new CliError(
    `the changes are made, but after ${timeoutMs / 1000} s ${who}${names === "" ? "" : `: ${names}`}`,
    EXIT.unreachable,
    "apply again to wait on, with a longer --timeout; a lost replica is listed for an hour",
  );
}
