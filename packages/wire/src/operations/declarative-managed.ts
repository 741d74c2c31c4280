// Apart from the documents, because the list of channels makes this call and needs none of their members.
import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";

export const declarativeManaged = endpoint({
  name: "declarativeManaged",
  method: "GET",
  path: "/api/declarative/managed",
  access: "admin",
  summary: "What documents own, so that screens can show it locked.",
  data: z.array(
    z.object({
      kind: z.string(),
      name: z.string(),
      resource_id: z.int(),
      owner: z.string(),
      fields: z.array(z.string()),
      /**
       * Epoch seconds until which a channel that was enabled or disabled by hand stays so; 0 = it follows its document.
       */
      override_until: z.int(),
    }),
  ),
});
