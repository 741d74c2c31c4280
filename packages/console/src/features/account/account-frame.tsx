import { Box, Flex, Heading } from "@chakra-ui/react";
import { useEffect, useRef, type ReactNode } from "react";
import { Brand } from "../../shared/frame/brand.tsx";
import { LanguageButton, ThemeButton } from "../../shared/frame/preferences.tsx";
import { useStatus } from "../../session/status.ts";
import { MarkShape } from "../../ui/display/mark.tsx";

/** The frame around the forms of visitors: without a sidebar, with theme and language in the corner. */
export function AccountFrame(props: { readonly title: string; readonly children: ReactNode }) {
  const { system_name: systemName } = useStatus();
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    document.title = `${props.title} · ${systemName}`;
    box.current?.querySelector("input")?.focus();
  }, [props.title, systemName]);
  return (
    <Flex direction="column" minH="100dvh" className="harbour">
      <Flex justify="flex-end" gap="1" p="3">
        <LanguageButton />
        <ThemeButton />
      </Flex>
      <Flex as="main" direction="column" align="center" justify="center" flex="1" px="4" pb="24">
        <Box mb="6">
          <Brand size={36} />
        </Box>
        <Box ref={box} width="full" maxW="380px" bg="bg.panel" borderWidth="1px" borderRadius="l3" p="6" boxShadow="sm">
          <Heading as="h1" textStyle="xl" fontWeight="semibold" mb="4">
            {props.title}
          </Heading>
          {props.children}
        </Box>
      </Flex>
    </Flex>
  );
}

/** Shows an error, or something that the visitor should know. */
export function Alert(props: { readonly text: string; readonly isFailure: boolean }) {
  return (
    <Flex
      role="alert"
      gap="2.5"
      align="baseline"
      bg={props.isFailure ? "bg.error" : "bg.warning"}
      color={props.isFailure ? "fg.error" : "fg.warning"}
      borderRadius="l2"
      px="3"
      py="2"
      mb="4"
      textStyle="sm"
    >
      <MarkShape kind={props.isFailure ? "stop" : "caution"} />
      <span>{props.text}</span>
    </Flex>
  );
}
