import { Box, Flex, Heading } from "@chakra-ui/react";
import { useEffect, useRef, type ReactNode } from "react";
import { useStatus } from "../../session/status.ts";

interface PageProps {
  readonly title: string;
  readonly actions?: ReactNode;
  /** Shown next to the title, such as totals. */
  readonly aside?: ReactNode;
  readonly width?: "full" | "form" | "reading";
  readonly children: ReactNode;
}

const WIDTH = { full: "none", form: "920px", reading: "640px" };

/** Title, actions and content of a page; the title takes focus when the page opens and names the browser's tab. */
export function Page(props: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { system_name: systemName } = useStatus();
  useEffect(() => {
    document.title = `${props.title} · ${systemName}`;
  }, [props.title, systemName]);
  useEffect(() => {
    // A drawer that opens together with its page has already taken the focus.
    if (!document.activeElement?.closest('[role="dialog"]')) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <Box
      maxW={WIDTH[props.width ?? "full"]}
      mx={props.width === undefined ? "0" : "auto"}
      px={{ base: "4", sm: "6" }}
      pb="8"
    >
      <Flex align="center" gap="3" minH="14" wrap="wrap" py="2">
        <Heading as="h1" ref={heading} tabIndex={-1} textStyle="xl" fontWeight="semibold" outline="none">
          {props.title}
        </Heading>
        {props.aside}
        <Flex ms="auto" gap="2" align="center" wrap="wrap" justify="flex-end">
          {props.actions}
        </Flex>
      </Flex>
      {props.children}
    </Box>
  );
}
