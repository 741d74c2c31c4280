import { objects } from "../core/read.ts";
import type { AnswerIds, JsonObject } from "../core/types.ts";
import { gObject, gObjects, gText } from "./fields.ts";

/** The path of a file that the vendor stores; addresses of other stores are no ids. */
const STORED = /(?:^|\/)(files\/[a-z0-9-]{1,40})$/;

/** The files that an answer names: what code has written for the model. They are named by path and by address. */
export const geminiAnswerIds: AnswerIds = {
  marks: ["fileUri", "file_uri"],
  mayName: (body) => gObjects(body, "tools").some((tool) => gObject(tool, "codeExecution") !== undefined),
  read: (answer) =>
    objects(answer, "candidates")
      .flatMap((candidate) => objects(gObject(candidate, "content"), "parts"))
      .flatMap(listNames),
};

function listNames(part: JsonObject): string[] {
  const address = gText(gObject(part, "fileData"), "fileUri") ?? "";
  const name = STORED.exec(address)?.[1];
  return name === undefined ? [] : [...new Set([name, address])];
}
