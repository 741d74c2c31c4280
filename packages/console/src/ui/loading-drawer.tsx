import { Drawer, Portal, Spinner } from "@chakra-ui/react";
import { LoadFailed } from "./empty.tsx";
import { DRAWER_SIDE } from "./form-drawer.tsx";

/** The place of an edit drawer while its row is loaded, or when it does not come. */
export function LoadingDrawer(props: { readonly kind: keyof typeof DRAWER_SIDE; readonly title: string; readonly problem: unknown; onClose(): void }) {
  return (
    <Drawer.Root open placement={DRAWER_SIDE[props.kind]} onOpenChange={(change) => !change.open && props.onClose()}>
      <Portal>
        <Drawer.Backdrop />
        <Drawer.Positioner>
          <Drawer.Content>
            <Drawer.Header>
              <Drawer.Title>{props.title}</Drawer.Title>
            </Drawer.Header>
            <Drawer.Body>
              {props.problem ? <LoadFailed problem={props.problem} onRetry={() => location.reload()} /> : <Spinner />}
            </Drawer.Body>
          </Drawer.Content>
        </Drawer.Positioner>
      </Portal>
    </Drawer.Root>
  );
}
