import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { queryInt, queryText } from "../core/envelope.ts";
import { pageFields } from "../core/paging.ts";

/** A drawing task; its three times are in milliseconds. */
export const Drawing = z.object({
  id: z.int(),
  code: z.int(),
  user_id: z.int(),
  action: z.string(),
  mj_id: z.string(),
  prompt: z.string(),
  prompt_en: z.string(),
  description: z.string(),
  state: z.string(),
  submit_time: z.int(),
  start_time: z.int(),
  finish_time: z.int(),
  image_url: z.string(),
  status: z.string(),
  progress: z.string(),
  fail_reason: z.string(),
  /** Id of the channel; 0 for the task's owner. */
  channel_id: z.int(),
  quota: z.int(),
  /** JSON text, like `properties`. */
  buttons: z.string(),
  properties: z.string(),
  /** Epoch seconds. */
  created_at: z.int(),
});
export type Drawing = z.output<typeof Drawing>;

/** An asynchronous task; its times are in seconds. */
export const AsyncTask = z.object({
  id: z.int(),
  created_at: z.int(),
  updated_at: z.int(),
  task_id: z.string(),
  platform: z.string(),
  user_id: z.int(),
  /** Id of the channel; 0 for the task's owner. */
  channel_id: z.int(),
  quota: z.int(),
  action: z.string(),
  status: z.string(),
  fail_reason: z.string(),
  submit_time: z.int(),
  start_time: z.int(),
  finish_time: z.int(),
  progress: z.string(),
  properties: z.unknown(),
  data: z.unknown(),
});
export type AsyncTask = z.output<typeof AsyncTask>;

const drawingSelf = {
  ...pageFields,
  mj_id: queryText,
  /** Epoch milliseconds, compared with `submit_time`. */
  start_timestamp: queryInt,
  end_timestamp: queryInt,
};

const taskSelf = {
  ...pageFields,
  task_id: queryText,
  platform: queryText,
  action: queryText,
  status: queryText,
  /** Epoch seconds, compared with `submit_time`. */
  start_timestamp: queryInt,
  end_timestamp: queryInt,
};

export const drawingList = endpoint({
  name: "drawingList",
  method: "GET",
  path: "/api/mj/",
  access: "admin",
  summary: "Lists the drawing tasks of all users, newest first.",
  query: z.object({ ...drawingSelf, channel_id: queryInt }),
  data: z.array(Drawing),
});

export const drawingListSelf = endpoint({
  name: "drawingListSelf",
  method: "GET",
  path: "/api/mj/self",
  access: "user",
  summary: "Lists the caller's drawing tasks.",
  query: z.object(drawingSelf),
  data: z.array(Drawing),
});

export const taskList = endpoint({
  name: "taskList",
  method: "GET",
  path: "/api/task/",
  access: "admin",
  summary: "Lists the asynchronous tasks of all users, newest first.",
  query: z.object({ ...taskSelf, channel_id: queryInt }),
  data: z.array(AsyncTask),
});

export const taskListSelf = endpoint({
  name: "taskListSelf",
  method: "GET",
  path: "/api/task/self",
  access: "user",
  summary: "Lists the caller's asynchronous tasks.",
  query: z.object(taskSelf),
  data: z.array(AsyncTask),
});
