import type { JsonObject, JsonValue } from "../../dialects/core/types.ts";
import type { MadeIdRules } from "./task-ids.ts";

/** An upstream's report about a task, in terms of the task table; absent members are unchanged in the table. */
export interface TaskNews {
  /** NOT_START, SUBMITTED, QUEUED, IN_PROGRESS, SUCCESS or FAILURE. */
  readonly status?: string | undefined;
  readonly failReason?: string | undefined;
  /** Epoch seconds. */
  readonly startTime?: number | undefined;
  readonly finishTime?: number | undefined;
  /** A percentage such as `40%`. */
  readonly progress?: string | undefined;
  readonly data?: JsonValue | undefined;
}

/** A request in the vendor's form. */
export interface VideoRequest {
  /** Last segment of the vendor's own path. */
  readonly action: string;
  readonly body: JsonObject;
}

export interface VideoNames {
  /** The vendor's name of the model. */
  readonly model: string;
  /** Name by which one task of this kind is listed and priced. */
  readonly priced: string;
}

/** A task as the gateway knows it. */
export interface VideoTask {
  readonly id: string;
  readonly status: string;
  readonly failReason: string;
  /** The latest answer of the upstream. */
  readonly data: JsonObject;
}

/** An error in the format of the vendor's own clients. */
export interface VideoRefusal {
  /** The vendor's own code, if the failure is the vendor's. */
  readonly code: string | undefined;
  /** HTTP status of the answer. */
  readonly status: number;
  readonly message: string;
  readonly requestId: string;
}

/** A vendor whose videos are submitted as tasks, polled, and finished some minutes later. */
export interface VideoTasks {
  /** Actions of the client routes `/<provider id>/v1/videos/<action>`. */
  readonly actions: ReadonlySet<string>;
  /** Returns the path at which a task is submitted; it is polled at this path plus its id. */
  path(action: string): string;
  /** Converts a request of `/v1/video/generations` to the vendor's form. */
  fromGeneral(body: JsonObject): VideoRequest;
  names(request: VideoRequest): VideoNames;
  /** Returns the body of the request with another model. */
  withModel(request: VideoRequest, model: string): JsonObject;
  /** Reads the accepted task; undefined = the answer accepts no task. */
  accepted(answer: JsonObject): { readonly id: string; readonly data: JsonObject } | undefined;
  /** Reads the report about a task; undefined = the answer says nothing about one. */
  news(answer: JsonObject): TaskNews | undefined;
  /** Returns the addresses of the videos in the upstream's latest answer. */
  urls(data: JsonObject): readonly string[];
  /** Builds the answer about a task in the vendor's own protocol. */
  view(task: VideoTask, requestId: string): JsonObject;
  refusal(failure: VideoRefusal): JsonObject;
  /** Rules for the ids that its requests may name. */
  readonly ids: MadeIdRules;
}
