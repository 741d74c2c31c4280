// Code that a vendor ran inside an answer, with its outcome. Between bridges it is a run (`hosted-runs.ts`); clients of
// the chat protocol, which has no place for it, read it as fenced text.
import { anyText, isObject, number, object, objects, text } from "../../../core/read.ts";
import type { BridgeContext } from "../../../core/bridge.ts";
import type { JsonObject } from "../../../core/types.ts";

interface Ran {
  readonly language: string;
  readonly code: string;
}

interface Outcome {
  readonly output: string;
  readonly errors?: string;
  /** The exit status of the program. */
  readonly status?: number;
  /** Set if the code did not run, or not to its end. */
  readonly failed?: string | undefined;
}

/** Builds a run of code; without an outcome if the answer ended before there was one. */
function codeRun(ran: Ran, outcome?: Outcome): JsonObject {
  const { output, errors = "", status = 0, failed } = outcome ?? { output: "" };
  const known = { output, errors, status, isDone: outcome !== undefined };
  return { kind: "code_execution", ...ran, ...known, ...(failed !== undefined && { failed }) };
}

const WITH_BLOCKS: ReadonlySet<string> = new Set(["anthropic-messages", "gemini-generate", "openai-responses"]);

/** True if the client's protocol has blocks, items or parts for code that a vendor ran. */
export function showsCode({ spec }: BridgeContext): boolean {
  return WITH_BLOCKS.has(spec.dialect);
}

export function isCodeRun(run: JsonObject): boolean {
  return run["kind"] === "code_execution";
}

function joinOutputs(run: JsonObject): string {
  return [anyText(run, "output"), anyText(run, "errors")].filter((part) => part !== "").join("\n");
}

const BASH = "bash";
const CALL = /^(?:bash_)?code_execution$/;
export const CODE_RESULT = /^(?:bash_)?code_execution_tool_result$/;

/** True for a block that runs code; the other tools of the sandbox handle files. */
export function isCodeCall(block: JsonObject): boolean {
  return block["type"] === "server_tool_use" && CALL.test(anyText(block, "name"));
}

/** Builds a run from the blocks of a message; without `result` if the message ended before it. */
export function codeOfBlocks(call: JsonObject | undefined, result?: JsonObject): JsonObject {
  const input = object(call, "input");
  const command = text(input, "command");
  const ran = command === undefined ? { language: "python", code: anyText(input, "code") } : shell(command);
  if (result === undefined) return codeRun(ran);
  const content = isObject(result["content"]) ? result["content"] : {};
  return codeRun(ran, {
    output: anyText(content, "stdout"),
    errors: anyText(content, "stderr"),
    status: number(content, "return_code") ?? 0,
    failed: text(content, "error_code"),
  });
}

function shell(code: string): Ran {
  return { language: BASH, code };
}

/** Returns the blocks of a run in a message: `bash_code_execution` for commands. */
export function blocksOfCode(run: JsonObject, id: string): JsonObject[] {
  const isShell = run["language"] === BASH;
  const name = isShell ? "bash_code_execution" : "code_execution";
  const { code } = run;
  const call = { type: "server_tool_use", id, name, input: isShell ? { command: code } : { code } };
  if (run["isDone"] !== true) return [call];
  const { output: stdout, errors: stderr, status: return_code, failed } = run;
  const content =
    failed === undefined
      ? { type: `${name}_result`, stdout, stderr, return_code, content: [] }
      : { type: `${name}_tool_result_error`, error_code: "unavailable" };
  return [call, { type: `${name}_tool_result`, tool_use_id: id, content }];
}

/** Builds a run from a finished item of a response. */
export function codeOfItem(item: JsonObject): JsonObject {
  const output = objects(item, "outputs")
    .map((one) => anyText(one, "logs"))
    .filter((logs) => logs !== "")
    .join("\n");
  const failed = item["status"] === "failed" ? "unavailable" : undefined;
  const ran = { language: "python", code: anyText(item, "code") };
  return item["status"] === "incomplete" ? codeRun(ran) : codeRun(ran, { output, failed });
}

/** Returns the item of a run in a response; the container is the vendor's, and has no name here. */
export function itemOfCode(id: string, run: JsonObject): JsonObject {
  const status = run["failed"] !== undefined ? "failed" : run["isDone"] === true ? "completed" : "incomplete";
  const logs = joinOutputs(run);
  const outputs = logs === "" ? [] : [{ type: "logs", logs }];
  return { type: "code_interpreter_call", id, status, code: run["code"], container_id: "", outputs };
}

/** Returns the parts of a run in a candidate. */
export function partsOfCode(run: JsonObject): JsonObject[] {
  const language = run["language"] === "python" ? "PYTHON" : "LANGUAGE_UNSPECIFIED";
  const call = { executableCode: { language, code: run["code"] } };
  if (run["isDone"] !== true) return [call];
  const isGood = run["failed"] === undefined && run["status"] === 0;
  const outcome = isGood ? "OUTCOME_OK" : "OUTCOME_FAILED";
  return [call, { codeExecutionResult: { outcome, output: joinOutputs(run) } }];
}

/** Reads the parts of a candidate in order: code becomes a run when its result arrives. */
export class CandidateCode {
  #waiting: Ran | undefined;

  /** Returns undefined for parts that are not code. */
  read(part: JsonObject): JsonObject[] | undefined {
    const code = object(part, "executableCode");
    if (code !== undefined) {
      const before = this.rest();
      this.#waiting = { language: anyText(code, "language").toLowerCase() || "python", code: anyText(code, "code") };
      return before;
    }
    const result = object(part, "codeExecutionResult");
    if (result === undefined) return undefined;
    const ran = this.#waiting ?? { language: "python", code: "" };
    this.#waiting = undefined;
    return [codeRun(ran, readOutcome(result))];
  }

  /** Returns code that has no result at the end of the answer. */
  rest(): JsonObject[] {
    const ran = this.#waiting;
    this.#waiting = undefined;
    return ran === undefined ? [] : [codeRun(ran)];
  }
}

function readOutcome(result: JsonObject): Outcome {
  const output = anyText(result, "output");
  switch (result["outcome"]) {
    case "OUTCOME_FAILED":
      return { output: "", errors: output, status: 1 };
    case "OUTCOME_DEADLINE_EXCEEDED":
      return { output, failed: "deadline exceeded" };
    default:
      return { output };
  }
}
