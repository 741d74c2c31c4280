import { parentPort } from "node:worker_threads";
import { countWith, type EncoderName } from "./encoders.ts";
import type { CountJob, CountAnswer } from "./token-counter.ts";

/** Program of the counting thread. It loads an encoder when the first text needs it. */

type CountTokens = (text: string) => number;

const loaded = new Map<EncoderName, Promise<CountTokens>>();
/** Text that looks like a special token is ordinary text of a user. */
const ORDINARY = { disallowedSpecial: new Set<string>() };

function load(encoder: EncoderName): Promise<CountTokens> {
  const known = loaded.get(encoder);
  if (known) return known;
  const opened = open(encoder).then(
    ({ countTokens }) =>
      (text: string) =>
        countTokens(text, ORDINARY),
  );
  loaded.set(encoder, opened);
  return opened;
}

function open(encoder: EncoderName) {
  return encoder === "o200k_base"
    ? import("gpt-tokenizer/encoding/o200k_base")
    : import("gpt-tokenizer/encoding/cl100k_base");
}

parentPort?.on("message", (job: CountJob) => void answer(job));

async function answer(job: CountJob): Promise<void> {
  parentPort?.postMessage(await counted(job));
}

async function counted({ id, encoder, texts }: CountJob): Promise<CountAnswer> {
  try {
    const countTokens = await load(encoder);
    return { id, tokens: texts.map((text) => countWith(countTokens, text)) };
  } catch (error) {
    return { id, error: String(error) };
  }
}
