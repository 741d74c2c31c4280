import type { JsonObject } from "../../dialects/core/types.ts";
import { AppError, invalidRequest } from "../../lib/app-error.ts";
import { isObject, parseObject } from "../../lib/text/json.ts";

/** The request of a client that creates a batch from a file. */
export interface FileCreation {
  readonly inputFileId: string;
  readonly endpoint: string;
  readonly window: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** The whole body. */
  readonly asked: JsonObject;
}

const MAX_PAIRS = 16;
const MAX_NAME = 64;
const MAX_VALUE = 512;

/** Reads the body of a creation; throws for members that no upstream would take. */
export function readFileCreation(bytes: Buffer): FileCreation {
  const asked = parseObject(bytes.toString("utf8"));
  if (!asked) throw new AppError("invalid_json", { values: { position: "the body must be a JSON object" } });
  const { input_file_id: inputFileId, endpoint, completion_window: window } = asked;
  if (typeof inputFileId !== "string" || inputFileId === "")
    throw invalidRequest("input_file_id", "input_file_id must name a file that was uploaded with the purpose batch.");
  if (typeof endpoint !== "string") throw invalidRequest("endpoint", "endpoint must name the path of the requests.");
  if (typeof window !== "string") throw invalidRequest("completion_window", "completion_window must be 24h.");
  return { inputFileId, endpoint, window, metadata: readMetadata(asked["metadata"]), asked: asked as JsonObject };
}

function readMetadata(value: unknown): Record<string, string> {
  if (value === undefined || value === null) return {};
  const pairs = isObject(value) ? Object.entries(value) : undefined;
  const isValid = pairs?.every(
    ([name, text]) => name.length <= MAX_NAME && typeof text === "string" && text.length <= MAX_VALUE,
  );
  if (pairs && isValid && pairs.length <= MAX_PAIRS) return Object.fromEntries(pairs) as Record<string, string>;
  throw invalidRequest(
    "metadata",
    `metadata may have up to ${MAX_PAIRS} texts of ${MAX_VALUE} characters with names of ${MAX_NAME}.`,
  );
}
