import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { idParams, pathId } from "../core/envelope.ts";
import {
  MadeServiceToken,
  NewServiceAccount,
  NewServiceToken,
  ServiceAccount,
  ServiceAccountForm,
  ServiceToken,
} from "./service-accounts.ts";

const MISSING = ["service_account_not_found"] as const;

export const operatorAccountList = endpoint({
  name: "operatorAccountList",
  method: "GET",
  path: "/api/service_account/",
  access: "root",
  summary: "Lists the service accounts of the installation by name; those of a team are listed with the team.",
  data: z.array(ServiceAccount),
});

export const operatorAccountCreate = endpoint({
  name: "operatorAccountCreate",
  method: "POST",
  path: "/api/service_account/",
  access: "root",
  summary: "Makes a service account of the installation. It belongs to no team and holds access tokens alone.",
  body: NewServiceAccount,
  data: ServiceAccount,
  fails: ["service_account_exists", "team_limit_reached"],
});

export const operatorAccountUpdate = endpoint({
  name: "operatorAccountUpdate",
  method: "PUT",
  path: "/api/service_account/{id}",
  access: "root",
  summary: "Changes the named members of a service account; one that is off has no access token that works.",
  params: idParams,
  body: ServiceAccountForm,
  data: ServiceAccount,
  fails: [...MISSING, "service_account_exists"],
});

export const operatorAccountDelete = endpoint({
  name: "operatorAccountDelete",
  method: "DELETE",
  path: "/api/service_account/{id}",
  access: "root",
  summary: "Deletes a service account of the installation: its access tokens stop at once.",
  params: idParams,
  fails: MISSING,
});

export const operatorTokenList = endpoint({
  name: "operatorTokenList",
  method: "GET",
  path: "/api/service_account/{id}/access_token",
  access: "root",
  summary: "Lists the access tokens of a service account of the installation by name.",
  params: idParams,
  data: z.array(ServiceToken),
  fails: MISSING,
});

export const operatorTokenCreate = endpoint({
  name: "operatorTokenCreate",
  method: "POST",
  path: "/api/service_account/{id}/access_token",
  access: "root",
  summary: "Makes an access token with which a program acts as an administrator within the scopes; it is shown once.",
  params: idParams,
  body: NewServiceToken,
  data: MadeServiceToken,
  fails: [...MISSING, "invalid_field", "team_limit_reached"],
});

export const operatorTokenDelete = endpoint({
  name: "operatorTokenDelete",
  method: "DELETE",
  path: "/api/service_account/{id}/access_token/{aid}",
  access: "root",
  summary: "Ends an access token of a service account of the installation.",
  params: z.object({ id: pathId, aid: pathId }),
  fails: [...MISSING, "service_token_not_found"],
});
