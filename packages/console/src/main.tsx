import "@fontsource-variable/geist";
import "@fontsource-variable/geist-mono";
import { ChakraProvider } from "@chakra-ui/react";
import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { RouterProvider } from "react-router/dom";
import "./routes/frame/frame.css";
import { system } from "./theme/system.ts";
import { whenServerReturns } from "./lib/server/health.ts";
import { queryClient, whenMutationFails } from "./lib/query.ts";
import { router } from "./routes/router.tsx";
import { toastProblem } from "./ui/feedback/toaster.ts";

whenMutationFails(toastProblem);
// This includes lists that failed during the outage and lists that are older.
whenServerReturns(() => void queryClient.invalidateQueries());

const root = document.getElementById("root");
if (!root) throw new Error("index.html has no element with the id root");

createRoot(root).render(
  <StrictMode>
    <ChakraProvider value={system}>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </ChakraProvider>
  </StrictMode>,
);
