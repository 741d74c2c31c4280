import { testEngine } from "./tasks.ts";

testEngine("chromium");
