import * as z from "zod/mini";

/** The short name of a team, by which values, documents and commands name it. */
export const TeamSlug = z.string().check(z.regex(/^[a-z0-9][a-z0-9-]{1,39}$/));
