import { isSet, list, object, objects, text } from "../core/read.ts";
import type { AnswerIds } from "../core/types.ts";

/** The ids of spoken answers, which a later request sends in place of their sound. */
export const chatAnswerIds: AnswerIds = {
  marks: ["audio"],
  mayName: (body) => isSet(body["audio"]) || list(body, "modalities").includes("audio"),
  read: (answer) =>
    objects(answer, "choices").flatMap((choice) => {
      const said = object(choice, "message") ?? object(choice, "delta");
      return listIds(text(object(said, "audio"), "id"));
    }),
};

function listIds(id: string | undefined): string[] {
  return id === undefined ? [] : [id];
}
