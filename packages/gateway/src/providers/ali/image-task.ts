import { object, objects, text } from "../../dialects/read.ts";
import type { JsonObject } from "../../dialects/types.ts";
import { parseObject } from "../../lib/json.ts";
import { jsonAnswer, readWhole } from "../exchange.ts";
import { joinUrl } from "../join-url.ts";
import type { Exchange, ExchangeContext, UpstreamAnswer, UpstreamCall } from "../types.ts";

const POLL_MS = 3000;
const MAX_POLLS = 20;
const RUNNING: ReadonlySet<string> = new Set(["PENDING", "RUNNING", "SUSPENDED"]);

/** Images are tasks: submitted once, then asked for every three seconds for a minute. */
export const imageExchange: Exchange = async (call, context) => {
  const submitted = await readWhole(await context.send(call));
  const id = text(object(parseObject(submitted.bytes.toString("utf8")), "output"), "task_id");
  if (submitted.answer.status !== 200 || id === undefined) return submitted.answer;
  for (let poll = 0; poll < MAX_POLLS; poll++) {
    if (poll > 0) await context.sleep(POLL_MS);
    const state = await readWhole(await context.send(pollCall(call, context, id)));
    const output = object(parseObject(state.bytes.toString("utf8")), "output");
    const status = text(output, "task_status") ?? "UNKNOWN";
    if (state.answer.status !== 200) return state.answer;
    if (status === "SUCCEEDED") return context.ask.wantsBase64 ? withBytes(output, context) : state.answer;
    if (RUNNING.has(status)) continue;
    return failed(text(output, "message") ?? `The task ended as ${status}.`, text(output, "code") ?? status);
  }
  return failed("The image was not ready in time.", "Timeout");
};

/** The vendor keeps images at an address for a day; clients may ask for the bytes. */
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
  const base = context.channel.baseUrl || call.url.origin;
  const { authorization = "" } = call.headers;
  return {
    method: "GET",
    url: joinUrl(base, `/api/v1/tasks/${encodeURIComponent(id)}`),
    headers: { authorization },
    body: undefined,
  };
}
