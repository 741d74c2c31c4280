import { Button, Flex, Text } from "@chakra-ui/react";
import { lazy, useEffect, useRef, type ComponentType } from "react";
import { textsReady } from "../../lib/i18n.ts";
import { ChunkProblem, loadCode } from "../../lib/server/chunks.ts";
import { createStore, useStore } from "../../lib/store.ts";
import { Icon } from "../display/icon.tsx";
import { toast } from "../feedback/toaster.ts";
import { say, useTexts } from "../texts.ts";
import { whenPartMissing } from "./release.ts";

export interface FailedProps {
  retry(): void;
}

/**
 * Works like `lazy`, for code that may fail to load after an upgrade or without a network. That part of the page then
 * shows the failure and retries on request; everything else stays as it is, including input. It appears with its texts
 * in the chosen language.
 */
export function late<P extends object>(
  load: () => Promise<ComponentType<P>>,
  Failed: ComponentType<FailedProps & P> = PartFailed,
  whenMissing: () => Promise<void> = whenPartMissing,
): ComponentType<P> {
  const part = createStore(lazy(attempt));
  async function attempt(): Promise<{ default: ComponentType<P> }> {
    try {
      return { default: await loadCode(loadWithTexts) };
    } catch (problem) {
      if (!(problem instanceof ChunkProblem)) throw problem;
      await whenMissing();
      return { default: (props: P) => <Failed {...props} retry={() => part.write(lazy(attempt))} /> };
    }
  }
  async function loadWithTexts(): Promise<ComponentType<P>> {
    const component = await load();
    await textsReady();
    return component;
  }
  return function Late(props: P) {
    const Part = useStore(part);
    return <Part {...props} />;
  };
}

interface Closing {
  onClose?(): void;
}

/** For dialogs and menus: they close again, by `close` or their own `onClose`, and opening them retries. */
export function lateOverlay<P extends object>(load: () => Promise<ComponentType<P>>, close?: () => void) {
  return late<P>(load, function OverlayFailed(props) {
    const latest = useRef(props);
    useEffect(() => {
      const { retry, onClose } = latest.current as FailedProps & Closing;
      toast("error", say("partFailed"));
      (close ?? onClose)?.();
      retry();
    }, []);
    return null;
  });
}

/** For dialogs that must be seen, such as a key that is shown once: they wait for a retry. */
export function lateNeeded<P extends object>(load: () => Promise<ComponentType<P>>) {
  return late<P>(load, function NeededFailed({ retry }) {
    const latest = useRef(retry);
    useEffect(() => {
      const action = { label: say("retry"), run: () => latest.current() };
      toast("error", say("partFailed"), { action, durationMs: Infinity });
    }, []);
    return null;
  });
}

function PartFailed({ retry }: FailedProps) {
  const t = useTexts();
  return (
    <Flex role="alert" align="center" wrap="wrap" gap="3" p="3" borderWidth="1px" borderRadius="l3" bg="bg.panel">
      <Text flex="1" minW="12rem">
        {t("partFailed")}
      </Text>
      <Button size="xs" variant="outline" onClick={retry}>
        <Icon name="refresh" size={14} />
        {t("retry")}
      </Button>
    </Flex>
  );
}
