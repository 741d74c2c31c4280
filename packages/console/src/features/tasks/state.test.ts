import type { AsyncTask } from "@fairway/wire";
import { expect, test } from "vitest";
import { isUnderWay, calculateDuration, listResultLinks, findStatus } from "./state.ts";

const row: AsyncTask = {
  id: 1,
  created_at: 0,
  updated_at: 0,
  task_id: "t1",
  platform: "suno",
  user_id: 1,
  channel_id: 0,
  quota: 0,
  action: "MUSIC",
  status: "",
  fail_reason: "",
  submit_time: 100,
  start_time: 0,
  finish_time: 0,
  progress: "",
  properties: null,
  data: null,
};

test("a task without a status is being submitted, one with a foreign status is unknown", () => {
  expect(["", "QUEUED", "X"].map((status) => findStatus({ ...row, status }).text)).toEqual([
    "submitting",
    "queued",
    "unknown",
  ]);
  expect(["", "IN_PROGRESS", "SUCCESS", "X"].map((status) => isUnderWay({ ...row, status }))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

test("a task is counted up to its end, or to now", () => {
  expect([calculateDuration(row, 160), calculateDuration({ ...row, finish_time: 130 }, 160)]).toEqual([60, 30]);
});

test("results are found wherever the vendor puts them, and scripts are none", () => {
  const data = [
    { audio_url: "https://cdn.example/a.mp3", image_url: "https://cdn.example/a.png", title: "https://no.example" },
    { result: { videos: [{ url: "https://cdn.example/v.mp4" }, { url: "javascript:alert(1)" }] } },
    { audio_url: "https://cdn.example/a.mp3" },
  ];
  expect(listResultLinks(data)).toEqual([
    "https://cdn.example/a.mp3",
    "https://cdn.example/a.png",
    "https://cdn.example/v.mp4",
  ]);
  expect([null, "https://x.example", 7].map(listResultLinks)).toEqual([[], [], []]);
});
