import { object, objects, text } from "../../../dialects/core/read.ts";
import type { JsonObject } from "../../../dialects/core/types.ts";
import { parseObject } from "../../../lib/text/json.ts";
import { jsonAnswer, readWhole } from "../../core/exchange.ts";
import { siblingPath, joinUrl } from "../../core/join-url.ts";
import type { Exchange, ExchangeContext, UpstreamAnswer, UpstreamCall } from "../../core/types.ts";
import { COMPATIBLE } from "./paths.ts";

const POLL_MS = 3000;
const MAX_POLLS = 20;
const RUNNING: ReadonlySet<string> = new Set(["PENDING", "RUNNING", "SUSPENDED"]);

/** Images are tasks: each is submitted once, then polled every three seconds for a minute. */
export const imageExchange: Exchange = async (call, context) => {
  const submitted = await readWhole(await context.send(call));
  const id = text(object(parseObject(submitted.bytes.toString("utf8")), "output"), "task_id");
  if (submitted.answer.status !== 200 || id === undefined) return submitted.answer;
  for (let poll = 0; poll < MAX_POLLS; poll++) {
    if (poll > 0) await context.sleep(POLL_MS);
    const answer = await look(pollCall(call, context, id), context);
    if (answer) return answer;
  }
  return failed("The image was not ready in time.", "Timeout");
};

/** Polls the task; undefined = it has not finished yet. */
async function look(call: UpstreamCall, context: ExchangeContext): Promise<UpstreamAnswer | undefined> {
  const { answer, bytes } = await readWhole(await context.send(call));
  if (isPassing(answer.status)) return undefined;
  if (answer.status !== 200) return answer;
  const output = object(parseObject(bytes.toString("utf8")), "output");
  const status = text(output, "task_status") ?? "UNKNOWN";
  if (RUNNING.has(status)) return undefined;
  if (status === "SUCCEEDED") return context.spec.wantsBase64 ? withBytes(output, context) : answer;
  return failed(text(output, "message") ?? `The task ended as ${status}.`, text(output, "code") ?? status);
}

/**
 * True for a temporary failure of a poll. It says nothing about the image, which would be paid for twice if another
 * channel were tried.
 */
function isPassing(status: number): boolean {
  return status === 429 || status >= 500;
}

/** Downloads the images, for clients that requested bytes. The vendor stores images at an address for a day. */
async function withBytes(output: JsonObject | undefined, { download }: ExchangeContext): Promise<UpstreamAnswer> {
  const results = await Promise.all(
    objects(output, "results").map(async (result) => {
      const url = text(result, "url");
      return url === undefined ? result : { b64_image: (await download(url)).bytes.toString("base64") };
    }),
  );
  return jsonAnswer({ output: { ...output, results } });
}

function failed(message: string, code: string): UpstreamAnswer {
  return jsonAnswer({ error: { type: "ali_error", code, message } });
}

function pollCall(call: UpstreamCall, context: ExchangeContext, id: string): UpstreamCall {
  const { authorization = "" } = call.headers;
  const base = context.channel.baseUrl;
  return {
    method: "GET",
    url: joinUrl(base || call.url.origin, siblingPath(base, [COMPATIBLE], `/api/v1/tasks/${encodeURIComponent(id)}`)),
    headers: { authorization },
    body: undefined,
  };
}
