import {
  savedReportCreate,
  savedReportDelete,
  savedReportList,
  savedReportRun,
  savedReportUpdate,
} from "@fairway/wire";
import { implement, type Route } from "../../../http/endpoint.ts";
import type { SavedReportCalls } from "./calls.ts";

export function savedReportRoutes(calls: SavedReportCalls): Route[] {
  return [
    implement(savedReportList, ({ caller }) => calls.list(caller)),
    implement(savedReportCreate, ({ body, caller }) => calls.create(caller, body)),
    implement(savedReportUpdate, ({ params, body, caller }) => calls.update(caller, params.id, body)),
    implement(savedReportDelete, ({ params, caller }) => calls.remove(caller, params.id)),
    implement(savedReportRun, ({ params, query, caller, response }) => calls.run(caller, params.id, query, response)),
  ];
}
