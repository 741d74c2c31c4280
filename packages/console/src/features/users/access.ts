import type { User } from "@fairway/wire";

export function isDeleted(user: User): boolean {
  return user.DeletedAt !== null;
}

/**
 * Returns whether this caller may open the account: the server allows only lower roles and the caller's own account.
 */
export function isOpenTo(own: Pick<User, "id" | "role"> | undefined, user: User): boolean {
  return own !== undefined && !isDeleted(user) && (user.id === own.id || user.role < own.role);
}
