import { AppError } from "../../lib/app-error.ts";
import { tagClaims, type TaggedCall } from "../../limits/tag-limits.ts";
import type { CallTags } from "../request/request.ts";

/** Throws `tag_blocked` or `end_user_blocked` if the token or the account refuses calls of such a value. */
export function refuseBlocked({ text, endUser }: CallTags, own: TaggedCall["own"]): void {
  for (const { scope, subject, limit } of tagClaims({ text, endUser, own })) {
    if (limit.blocked !== true) continue;
    const name = subject.slice(subject.indexOf("/") + 1);
    throw new AppError(`${scope}_blocked`, { values: { name }, param: scope, entity: { scope, name } });
  }
}
