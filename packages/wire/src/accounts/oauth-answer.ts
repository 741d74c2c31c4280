import * as z from "zod/mini";
import { queryText } from "../core/envelope.ts";

/** What a service or a provider adds to the address of the way back. */
export const oauthAnswer = z.object({
  code: queryText,
  state: queryText,
  /** The issuer, as it names itself (RFC 9207). */
  iss: queryText,
  /** Why it refused the sign-in (RFC 6749, 4.1.2.1). */
  error: queryText,
  error_description: queryText,
});
