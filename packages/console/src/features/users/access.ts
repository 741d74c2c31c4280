import type { User } from "@fairway/wire";

export function isDeleted(user: User): boolean {
  return user.DeletedAt !== null;
}

/** Whether this caller may open the account: the server refuses all but those below, and one's own. */
export function isOpenTo(own: Pick<User, "id" | "role"> | undefined, user: User): boolean {
  return own !== undefined && !isDeleted(user) && (user.id === own.id || user.role < own.role);
}
