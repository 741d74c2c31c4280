import * as z from "zod/mini";

/** A way to sign in that an operator has set up. */
export const SignInOffer = z.object({
  /** The name of the service in `GET /api/oauth/start`. */
  slug: z.string(),
  /** What its button says. */
  name: z.string(),
  kind: z.literal("oidc"),
});
export type SignInOffer = z.output<typeof SignInOffer>;
