import { Button, Drawer, Flex, Heading, Portal, Text } from "@chakra-ui/react";
import { useEffect, useId, useRef, type FormEvent, type ReactNode } from "react";
import { useBlocker } from "react-router";
import { ask } from "./ask.ts";
import { Icon } from "./icon.tsx";
import { IconButton } from "./icon-button.tsx";
import { useTexts } from "./texts.ts";

/** Which side each kind of drawer comes from: what the consoles of the family do. */
export const DRAWER_SIDE = { create: "start", edit: "end" } as const;

interface FormDrawerProps {
  readonly kind: keyof typeof DRAWER_SIDE;
  readonly title: string;
  readonly mark?: ReactNode;
  readonly isDirty: boolean;
  readonly isSaving: boolean;
  readonly submitLabel: string;
  /** Leaves the route of the drawer; called after saving and when the user gives up. */
  onClose(): void;
  /** Saves; true when the drawer may close. */
  onSubmit(): Promise<boolean>;
  /** Called after saving, when the drawer is on its way out. */
  onSaved?(): void;
  readonly extraActions?: ReactNode;
  readonly children: ReactNode;
}

/** Asks before unsaved input is lost, whichever way the user leaves. */
function useUnsavedGuard(isDirty: boolean) {
  const t = useTexts();
  const mayLeave = useRef(false);
  const blocker = useBlocker(({ currentLocation, nextLocation }) => {
    return isDirty && !mayLeave.current && currentLocation.pathname !== nextLocation.pathname;
  });
  useEffect(() => {
    if (blocker.state !== "blocked") return;
    void ask({
      title: t("unsavedTitle"),
      body: t("unsavedBody"),
      confirm: t("discard"),
      cancel: t("keepEditing"),
      isDangerous: true,
    }).then((isConfirmed) => (isConfirmed ? blocker.proceed() : blocker.reset()));
  }, [blocker, t]);
  useEffect(() => {
    if (!isDirty) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, [isDirty]);
  return () => {
    mayLeave.current = true;
  };
}

/** The drawer of every create and edit form: 600 px, full width on phones, route-driven. */
export function FormDrawer(props: FormDrawerProps) {
  const t = useTexts();
  const release = useUnsavedGuard(props.isDirty);
  const form = useRef<HTMLFormElement>(null);

  async function submit(event?: FormEvent): Promise<void> {
    event?.preventDefault();
    if (props.isSaving) return;
    if (await props.onSubmit()) {
      release();
      props.onClose();
      props.onSaved?.();
      return;
    }
    // Errors appear with the next paint; then focus goes to the first of them.
    requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"], [data-invalid] input')?.focus());
  }

  return (
    <Drawer.Root
      open
      placement={DRAWER_SIDE[props.kind]}
      onOpenChange={(change) => !change.open && props.onClose()}
      initialFocusEl={() => form.current?.querySelector<HTMLElement>("input, select, textarea") ?? null}
    >
      <Portal>
        <Drawer.Backdrop />
        <Drawer.Positioner>
          <Drawer.Content>
            <Drawer.Header>
              <Drawer.Title>{props.title}</Drawer.Title>
              {props.mark}
              <IconButton label={t("close")} hasTip={false} onClick={props.onClose}>
                <Icon name="close" />
              </IconButton>
            </Drawer.Header>
            <Drawer.Body>
              <form
                ref={form}
                id="drawer-form"
                noValidate
                autoComplete="off"
                onSubmit={(event) => void submit(event)}
                onKeyDown={(event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && void submit(event)}
              >
                <Flex direction="column" gap="5">
                  {props.children}
                </Flex>
              </form>
            </Drawer.Body>
            <Drawer.Footer justifyContent="flex-start">
              <Button type="submit" form="drawer-form" loading={props.isSaving} loadingText={t("saving")}>
                {props.submitLabel}
              </Button>
              {props.extraActions}
              <Button variant="outline" onClick={props.onClose}>
                {t("cancel")}
              </Button>
              {props.isDirty && (
                <Text textStyle="xs" color="fg.muted" ms="auto">
                  {t("unsaved")}
                </Text>
              )}
            </Drawer.Footer>
          </Drawer.Content>
        </Drawer.Positioner>
      </Portal>
    </Drawer.Root>
  );
}

/** A titled group of fields inside a drawer. */
export function FormSection(props: { readonly title: string; readonly aside?: ReactNode; readonly children: ReactNode }) {
  const id = useId();
  return (
    <Flex role="group" aria-labelledby={id} direction="column" gap="4" borderWidth="1px" borderRadius="l3" bg="bg.panel" p="4" minW="0">
      <Flex align="center" gap="2">
        <Heading as="h3" id={id} textStyle="md" fontWeight="semibold" flex="1">
          {props.title}
        </Heading>
        {props.aside}
      </Flex>
      {props.children}
    </Flex>
  );
}
