import { objects, text } from "../../src/dialects/core/read.ts";
import { providerByType } from "../../src/providers/registry.ts";
import { VectorMismatch, expectSame } from "./compare.ts";
import type { Vector } from "./load.ts";
import { createChannelRecord, runRelay } from "./run-relay.ts";
import { prepare } from "./prepare.ts";
import { runMapping, runSign } from "./run-sign.ts";
import { runCustomIds, runTask } from "./run-task.ts";
import { createScript } from "./script.ts";

/** Runs one vector; throws at the first difference. */
export async function runVector(vector: Vector): Promise<void> {
  const run = RUNNERS[vector.kind];
  if (run === undefined) throw new VectorMismatch(`no runner for vectors of kind ${vector.kind}`);
  await prepare(vector);
  await run(vector);
}

const RUNNERS: Partial<Record<Vector["kind"], (vector: Vector) => Promise<void>>> = {
  relay: runRelay,
  balance: runBalance,
  models: runModels,
  token: runRelay,
  sign: runSign,
  mapping: (vector) => (vector.name.startsWith("mj-") ? Promise.resolve(runCustomIds(vector)) : runMapping(vector)),
  task: runTask,
};

async function runBalance(vector: Vector): Promise<void> {
  const balance = requireProvider(vector).balance;
  if (balance === undefined) throw new VectorMismatch("the provider reads no balance");
  const script = createScript(vector, "whole");
  const channel = createChannelRecord(vector);
  const left = await balance(channel, channel.keys[0] ?? "", script.json, vector.now);
  const body = vector.answer?.["body"] ?? vector.json["expected"];
  const expected =
    typeof body === "object" && body !== null && !Array.isArray(body)
      ? (body["balance_usd"] ?? body["balance"])
      : undefined;
  expectSame(left, expected, "balance");
  script.finish();
}

async function runModels(vector: Vector): Promise<void> {
  const listModels = requireProvider(vector).listModels;
  if (listModels === undefined) throw new VectorMismatch("the provider lists no models");
  const script = createScript(vector, "whole");
  const channel = createChannelRecord(vector);
  const models = await listModels(channel, channel.keys[0] ?? "", script.json, vector.now);
  const body = vector.answer?.["body"];
  const expected = typeof body === "object" && body !== null && !Array.isArray(body) ? objects(body, "models") : [];
  expectSame(
    models,
    expected.map((model) => text(model, "id")),
    "models",
  );
  script.finish();
}

function requireProvider(vector: Vector) {
  const provider = providerByType(vector.type);
  if (provider === undefined) throw new VectorMismatch(`no provider of type ${vector.type}`);
  return provider;
}
