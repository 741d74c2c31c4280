import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";

export const groupList = endpoint({
  name: "groupList",
  method: "GET",
  path: "/api/group/",
  access: "admin",
  summary: "Names of all groups, ascending.",
  data: z.array(z.string()),
});
