import "@fontsource-variable/geist";
import "@fontsource-variable/geist-mono";
import { ChakraProvider } from "@chakra-ui/react";
import createCache from "@emotion/cache";
import { CacheProvider } from "@emotion/react";
import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { RouterProvider } from "react-router/dom";
import * as z from "zod/mini";
import "./app/frame/frame.css";
import { system } from "./app/theme/system.ts";
import { queryClient, whenMutationFails } from "./lib/query.ts";
import { router } from "./router.tsx";
import { toastProblem } from "./ui/toaster.ts";

// Compiled parsers need `eval`, which the content security policy forbids.
z.config({ jitless: true });
whenMutationFails(toastProblem);

// Rules go in through the object model: text inside style elements would need an exception in the policy.
const styles = createCache({ key: "fw", speedy: true });

const root = document.getElementById("root");
if (!root) throw new Error("index.html has no element with the id root");

createRoot(root).render(
  <StrictMode>
    <CacheProvider value={styles}>
      <ChakraProvider value={system}>
        <QueryClientProvider client={queryClient}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </ChakraProvider>
    </CacheProvider>
  </StrictMode>,
);
