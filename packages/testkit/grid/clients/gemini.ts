import { at, countAt, listAt, textAt } from "../json.ts";
import { NOTHING_SEEN, type GridRequest, type Client, type Finish, type Json, type Seen, type Turn } from "../types.ts";
import { PNG_TYPE, TOOLS } from "../words.ts";

const FINISHES: Readonly<Record<string, Finish>> = {
  STOP: "stop",
  MAX_TOKENS: "length",
  SAFETY: "content_filter",
  PROHIBITED_CONTENT: "content_filter",
};

export const geminiGenerate: Client = {
  name: "gemini",
  hasStopTexts: true,
  request: (asked, model, isStream) => ({
    path: `/v1beta/models/${encodeURIComponent(model)}:${isStream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    body: {
      ...(asked.system !== undefined && { systemInstruction: { parts: [{ text: asked.system }] } }),
      contents: asked.turns.flatMap(contents),
      ...(asked.hasTools && {
        tools: [
          {
            functionDeclarations: TOOLS.map(({ parameters, ...tool }) => ({
              ...tool,
              parametersJsonSchema: parameters,
            })),
          },
        ],
      }),
      ...(asked.choice !== undefined && {
        toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: [asked.choice] } },
      }),
      generationConfig: generationConfig(asked),
    },
  }),
  read,
  readStream(events, isWhole) {
    const pieces = events.flatMap(({ data }) => (data === "[DONE]" ? [] : [data]));
    const failed = pieces.find((piece) => at(piece, "error") !== undefined);
    const isNamed = events.some(({ event }) => event !== undefined);
    const seen = read(assemble(pieces));
    const turn = pieces.flatMap((piece) => listAt(piece, "candidates").slice(0, 1)).map(readContent);
    const isRemembered = pieces.every(isValidPiece);
    return {
      ...seen,
      turn,
      isComplete: seen.isComplete && isWhole && failed === undefined && !isNamed && isRemembered,
      error: failed && textAt(failed, "error", "message"),
    };
  },
  findErrorMessage: (answer) =>
    textAt(answer, "error", "status") === "" ? undefined : textAt(answer, "error", "message"),
};

function readContent(candidate: Json): Json {
  return candidate["content"] as Json;
}

/** The official client stores one content per event, and forgets the turn if any event has no parts. */
function isValidPiece(piece: Json): boolean {
  const isBlocked = at(piece, "promptFeedback") !== undefined;
  return isBlocked || listAt(piece, "candidates", 0, "content", "parts").some((part) => Object.keys(part).length > 0);
}

function generationConfig({ schema, stop, thinks }: GridRequest): Json {
  return {
    maxOutputTokens: 4000,
    ...(schema && { responseMimeType: "application/json", responseJsonSchema: schema }),
    ...(stop !== undefined && { stopSequences: [stop] }),
    ...(thinks && { thinkingConfig: { thinkingBudget: 1280, includeThoughts: true } }),
  };
}

function contents(turn: Turn): readonly Json[] {
  switch (turn.role) {
    case "echo":
      return turn.turn;
    case "results": {
      const parts = turn.results.map(({ call: { id, name }, text }) => ({
        functionResponse: { id, name, response: { result: text } },
      }));
      return [{ role: "user", parts }];
    }
    case "assistant": {
      const text = turn.text === "" ? [] : [{ text: turn.text }];
      return [{ role: "model", parts: [...text, ...(turn.calls ?? []).map((call) => ({ functionCall: call }))] }];
    }
    case "user": {
      const image = { inlineData: { mimeType: PNG_TYPE, data: turn.image } };
      return [{ role: "user", parts: [{ text: turn.text }, ...(turn.image === undefined ? [] : [image])] }];
    }
  }
}

function read(answer: Json): Seen {
  const candidate = listAt(answer, "candidates")[0];
  const isBlocked = textAt(answer, "promptFeedback", "blockReason") !== "";
  if (candidate === undefined && !isBlocked) return NOTHING_SEEN;
  const parts = listAt(candidate, "content", "parts");
  const joinText = (isThought: boolean) =>
    parts
      .filter((part) => (part["thought"] === true) === isThought)
      .map((part) => textAt(part, "text"))
      .join("");
  const calls = parts.flatMap((part) => (part["functionCall"] === undefined ? [] : [part["functionCall"] as Json]));
  const reported = FINISHES[textAt(candidate, "finishReason")];
  const finish = isBlocked ? "content_filter" : reported === "stop" && calls.length > 0 ? "tool_calls" : reported;
  const usage = at(answer, "usageMetadata");
  return {
    text: finish === "content_filter" ? "" : joinText(false),
    refusal: finish === "content_filter" ? joinText(false) : "",
    thinking: joinText(true),
    calls: calls.map((call) => ({ id: textAt(call, "id"), name: textAt(call, "name"), args: call["args"] })),
    finish,
    usage: usage
      ? {
          input: countAt(usage, "promptTokenCount"),
          output: countAt(usage, "candidatesTokenCount") + countAt(usage, "thoughtsTokenCount"),
          cached: countAt(usage, "cachedContentTokenCount"),
        }
      : undefined,
    turn: candidate ? [candidate["content"] as Json] : [],
    isComplete: finish !== undefined,
    error: undefined,
  };
}

function assemble(pieces: readonly Json[]): Json {
  let whole: Json = {};
  let candidate: Json | undefined;
  const parts: Json[] = [];
  for (const piece of pieces) {
    whole = { ...whole, ...piece };
    const [next] = listAt(piece, "candidates");
    if (next) candidate = { ...candidate, ...next };
    parts.push(...listAt(next, "content", "parts"));
  }
  return candidate ? { ...whole, candidates: [{ ...candidate, content: { role: "model", parts } }] } : whole;
}
