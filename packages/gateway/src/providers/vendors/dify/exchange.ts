import type { JsonObject } from "../../../dialects/core/types.ts";
import { objects, text } from "../../../dialects/core/read.ts";
import { AppError } from "../../../lib/app-error.ts";
import { parseObject } from "../../../lib/text/json.ts";
import { readWhole } from "../../core/exchange.ts";
import { joinUrl } from "../../core/join-url.ts";
import { imageData } from "../../core/private/chat-reader.ts";
import { withBody } from "../../core/private/batched-embeddings.ts";
import type { Exchange, ExchangeContext, UpstreamCall } from "../../core/types.ts";

/** Uploads inline images first. Agent apps refuse blocking calls, so a stream is requested from them instead. */
export const difyExchange: Exchange = async (call, context) => {
  const body = parseObject(call.body?.toString("utf8") ?? "") ?? {};
  const files = objects(body, "files");
  const hasInline = files.some((file) => file["data_url"] !== undefined);
  const sent = hasInline
    ? { ...body, files: await Promise.all(files.map((file) => uploaded(file, body, call, context))) }
    : body;
  const first = await context.send(hasInline ? withBody(call, sent) : call);
  if (first.status !== 400 || body["response_mode"] !== "blocking") return first;
  const { answer, bytes } = await readWhole(first);
  if (!/blocking mode/i.test(bytes.toString("utf8"))) return answer;
  return context.send(withBody(call, { ...sent, response_mode: "streaming" }));
};

async function uploaded(
  file: JsonObject,
  body: JsonObject,
  call: UpstreamCall,
  context: ExchangeContext,
): Promise<JsonObject> {
  const url = text(file, "data_url");
  if (url === undefined) return file;
  const { mediaType, data } = imageData(url);
  const boundary = `fairway-${context.now.toString(36)}-${data.length.toString(36)}`;
  const head = [
    `--${boundary}\r\ncontent-disposition: form-data; name="user"\r\n\r\n${text(body, "user") ?? "api-user"}\r\n`,
    `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="image.${mediaType.split("/")[1] ?? "png"}"\r\n`,
    `content-type: ${mediaType}\r\n\r\n`,
  ].join("");
  const form = Buffer.concat([Buffer.from(head), Buffer.from(data, "base64"), Buffer.from(`\r\n--${boundary}--\r\n`)]);
  const { authorization = "" } = call.headers;
  const { answer, bytes } = await readWhole(
    await context.send({
      method: "POST",
      url: joinUrl(context.channel.baseUrl || call.url.origin, "/v1/files/upload"),
      headers: { authorization, "content-type": `multipart/form-data; boundary=${boundary}` },
      body: form,
    }),
  );
  const id = text(parseObject(bytes.toString("utf8")), "id");
  if (id === undefined)
    throw new AppError("file_fetch_failed", {
      cause: new Error(`the upload was answered with status ${answer.status}`),
    });
  return { type: "image", transfer_method: "local_file", upload_file_id: id };
}
