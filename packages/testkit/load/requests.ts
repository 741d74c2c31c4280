// The requests of the load generator in each client protocol, and the marks by which it detects the end of a stream.

export type ClientProtocol = "chat" | "messages" | "responses" | "gemini";

export interface LoadRequest {
  readonly port: number;
  /** Bearer key. */
  readonly key: string;
  readonly model: string;
  readonly isStream: boolean;
  /** Defaults to chat. */
  readonly client?: ClientProtocol;
}

const PROMPT = "Explain in plain words what a reverse proxy does and why one would put it in front of a model. ".repeat(
  10,
);
const SYSTEM = "You are a helpful assistant.";

/** Text in the last 48 bytes of a stream that ended well, and of no other. */
export const END_MARKS: Readonly<Record<ClientProtocol, string>> = {
  chat: "[DONE]",
  messages: "message_stop",
  responses: ']}]},"sequence_number"',
  gemini: 'Id":"chatcmpl',
};

/** Returns the bytes of one HTTP request. */
export function buildRequest(asked: LoadRequest): Buffer {
  const body = JSON.stringify(buildBody(asked));
  const head = [
    `POST ${buildPath(asked)} HTTP/1.1`,
    `host: 127.0.0.1:${asked.port}`,
    "content-type: application/json",
    `authorization: Bearer ${asked.key}`,
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return Buffer.from(`${head.join("\r\n")}\r\n\r\n${body}`);
}

function buildPath({ client = "chat", model }: LoadRequest): string {
  switch (client) {
    case "messages":
      return "/v1/messages";
    case "responses":
      return "/v1/responses";
    case "gemini":
      return `/v1beta/models/${model}:streamGenerateContent?alt=sse`;
    case "chat":
      return "/v1/chat/completions";
  }
}

function buildBody({ client = "chat", model, isStream }: LoadRequest): object {
  const stream = isStream ? { stream: true } : {};
  const user = { role: "user", content: PROMPT };
  switch (client) {
    case "messages":
      return { model, max_tokens: 1000, system: SYSTEM, messages: [user], ...stream };
    case "responses":
      return { model, instructions: SYSTEM, input: PROMPT, ...stream };
    case "gemini":
      return {
        systemInstruction: { parts: [{ text: SYSTEM }] },
        contents: [{ role: "user", parts: [{ text: PROMPT }] }],
      };
    case "chat":
      return {
        model,
        messages: [{ role: "system", content: SYSTEM }, user],
        ...stream,
        ...(isStream && { stream_options: { include_usage: true } }),
      };
  }
}
