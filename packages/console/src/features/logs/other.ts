import * as z from "zod/mini";
import { parseJson } from "../../lib/text/json.ts";

const count = z.catch(z.number(), 0);
const ratio = z.catch(z.number(), 1);
const text = z.catch(z.optional(z.string()), undefined);

const AdminInfo = z.object({
  /** Ids of the channels that were tried, in order. */
  use_channel: z.catch(z.array(z.coerce.string()), []),
  upstream_model: text,
  guardrail_reason: text,
});

/** The members of the JSON text in `other` that the console reads; anything unreadable counts as absent. */
const LogOther = z.object({
  /** Absent on rows that were not charged by tokens. */
  model_ratio: z.catch(z.optional(z.number()), undefined),
  completion_ratio: ratio,
  group_ratio: ratio,
  /** US dollars of one call; 0 or below if the model is charged by tokens. */
  model_price: count,
  /** Milliseconds to the first token; 0 or below if there was none. */
  frt: count,
  cache_tokens: count,
  cache_ratio: ratio,
  cache_creation_tokens: count,
  cache_creation_ratio: ratio,
  audio_input: count,
  audio_output: count,
  audio_ratio: ratio,
  audio_completion_ratio: ratio,
  image_tokens: count,
  image_ratio: ratio,
  self_use: z.catch(z.boolean(), false),
  usage_source: text,
  end_reason: text,
  /** Why the answer ended early: `balance` or `budget`; absent on rows of older versions. */
  used_up: z.catch(z.optional(z.enum(["balance", "budget"])), undefined),
  /** The answer was made for an earlier request. */
  cache_hit: z.catch(z.boolean(), false),
  /** Seconds since that request. */
  cache_age: count,
  /** Status of a failed call. */
  status_code: count,
  /** Milliseconds from arrival to the error. */
  ms: count,
  error_code: text,
  /** Who sent the error: `client`, `gateway` or `upstream`. */
  error_type: text,
  /** How the call ended, as in the metrics. */
  outcome: text,
  request_path: text,
  /** How many more failed calls the row represents; 0 = none. */
  repeated: count,
  guardrail: z.catch(z.optional(z.enum(["block", "failed"])), undefined),
  admin_info: z.catch(z.optional(AdminInfo), undefined),
});
export type LogOther = z.output<typeof LogOther>;

const NOTHING: LogOther = LogOther.parse({});

/** The cells of a row read the same text one after another. */
let last = { json: "", other: NOTHING };

export function readOther(json: string): LogOther {
  if (json !== last.json) last = { json, other: parsed(json) };
  return last.other;
}

function parsed(json: string): LogOther {
  const result = LogOther.safeParse(parseJson(json));
  return result.success ? result.data : NOTHING;
}
