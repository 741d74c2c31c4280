import type { JsonObject, JsonValue } from "../../dialects/core/types.ts";
import type { MadeIdRules } from "./task-ids.ts";

/** An upstream's report about a task, in terms of the task table; absent members are unchanged. */
export interface TaskNews {
  /** NOT_START, SUBMITTED, QUEUED, IN_PROGRESS, SUCCESS or FAILURE. */
  readonly status?: string | undefined;
  readonly failReason?: string | undefined;
  /** Epoch seconds. */
  readonly startTime?: number | undefined;
  readonly finishTime?: number | undefined;
  /** Such as `40%`. */
  readonly progress?: string | undefined;
  readonly data?: JsonValue | undefined;
}

/** A request as the vendor takes it. */
export interface VideoRequest {
  /** Last segment of the vendor's own path. */
  readonly action: string;
  readonly body: JsonObject;
}

export interface VideoNames {
  /** The vendor's name of the model. */
  readonly model: string;
  /** Name that one task of this kind is listed and priced by. */
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
  /** The vendor's own code, where the failure is the vendor's. */
  readonly code: string | undefined;
  /** HTTP status of the answer. */
  readonly status: number;
  readonly message: string;
  readonly requestId: string;
}

/** A vendor whose videos are submitted, asked about, and done some minutes later. */
export interface VideoTasks {
  /** Actions of the client routes `/<provider id>/v1/videos/<action>`. */
  readonly actions: ReadonlySet<string>;
  /** Where a task is submitted; it is asked about at this path and its id. */
  path(action: string): string;
  /** A request of `/v1/video/generations`, in the vendor's form. */
  fromGeneral(body: JsonObject): VideoRequest;
  names(request: VideoRequest): VideoNames;
  /** Body of the request with another model. */
  withModel(request: VideoRequest, model: string): JsonObject;
  /** Undefined = the answer accepts no task. */
  accepted(answer: JsonObject): { readonly id: string; readonly data: JsonObject } | undefined;
  /** Undefined = the answer says nothing about a task. */
  news(answer: JsonObject): TaskNews | undefined;
  /** Addresses of the videos in what the upstream last said. */
  urls(data: JsonObject): readonly string[];
  /** Answer of the vendor's own protocol about a task. */
  view(task: VideoTask, requestId: string): JsonObject;
  refusal(failure: VideoRefusal): JsonObject;
  /** Ids that its requests may name. */
  readonly ids: MadeIdRules;
}
