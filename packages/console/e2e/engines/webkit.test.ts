import { testEngine } from "./tasks.ts";

testEngine("webkit");
