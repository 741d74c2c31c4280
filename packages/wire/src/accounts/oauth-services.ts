import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { queryText } from "../core/envelope.ts";
import { SignedInUser } from "./users.ts";

const facts = {
  method: "GET",
  access: "none",
  rate: "critical",
  hasEffects: true,
  query: z.object({ code: queryText, state: queryText }),
  data: z.optional(SignedInUser),
  fails: ["O1", "O2", "G1", "O3", "O4", "O5", "R1", "AU6", "AU8", "AU10", "L5"],
} as const;

export const oauthLinuxdo = endpoint({
  ...facts,
  name: "oauthLinuxdo",
  path: "/api/oauth/linuxdo",
  summary: "Signs in with LINUX DO or, for a caller who is signed in, binds the account (message `bind`).",
});

export const oauthOidc = endpoint({
  ...facts,
  name: "oauthOidc",
  path: "/api/oauth/oidc",
  summary: "Signs in with OpenID Connect or, for a caller who is signed in, binds the account (message `bind`).",
});
