import { testEngine } from "./tasks.ts";

testEngine("firefox");
