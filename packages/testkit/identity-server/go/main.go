// An OpenID provider of github.com/zitadel/oidc with its example's storage and login page: one client and a file of
// people, given as arguments, on a loopback port.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/go-jose/go-jose/v4"
	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

type settings struct {
	issuer      string
	clientID    string
	secret      string
	method      string
	redirect    string
	afterLogout string
	backchannel string
	users       string
	algorithm   string
	clientKey   string
	// The library has two routers: one checks the code before the client, the newer one the client before the code.
	hasNewRouter bool
}

func main() {
	var given settings
	port := flag.Int("port", 0, "port on 127.0.0.1")
	flag.StringVar(&given.issuer, "issuer", "", "issuer, whose path the provider is served below")
	flag.StringVar(&given.clientID, "client", "", "id of the client")
	flag.StringVar(&given.secret, "secret", "", "secret of the client")
	flag.StringVar(&given.method, "method", "client_secret_basic", "how the client proves who it is")
	flag.StringVar(&given.redirect, "redirect", "", "where people come back to")
	flag.StringVar(&given.afterLogout, "after-logout", "", "where people come back to after they have signed out")
	flag.StringVar(&given.backchannel, "backchannel", "", "where the provider tells that it has ended a session")
	flag.StringVar(&given.users, "users", "", "file of the people: the example's members, and Claims")
	flag.StringVar(&given.algorithm, "algorithm", "RS256", "how tokens are signed")
	flag.StringVar(&given.clientKey, "client-key", "", "file of the client's public key, a JWK with its kid")
	flag.BoolVar(&given.hasNewRouter, "new-router", false, "use the library's newer router")
	flag.Parse()
	handler, err := newHandler(given)
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe(fmt.Sprintf("127.0.0.1:%d", *port), handler))
}

// newHandler serves the provider below the path of its issuer, its login page at the root, and what a person would do at
// a console of the provider below /test.
func newHandler(given settings) (http.Handler, error) {
	issuer, err := url.Parse(given.issuer)
	if err != nil {
		return nil, err
	}
	users, err := storage.StoreFromFile(given.users)
	if err != nil {
		return nil, err
	}
	storage.RegisterClients(storage.WebClient(given.clientID, given.secret, given.redirect))
	store := &store{Storage: storage.NewStorage(users), settings: given}
	if err := store.readFiles(); err != nil {
		return nil, err
	}
	if err := store.addKey(); err != nil {
		return nil, err
	}
	router := exampleop.SetupServer(given.issuer, store, slog.Default(), given.hasNewRouter)
	mux := http.NewServeMux()
	mux.Handle("/", router)
	if path := strings.TrimSuffix(issuer.Path, "/"); path != "" {
		mux.Handle(path+"/", http.StripPrefix(path, router))
	}
	mux.HandleFunc("POST /test/rotate", func(w http.ResponseWriter, _ *http.Request) {
		if err := store.addKey(); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	mux.HandleFunc("POST /test/end-session", func(w http.ResponseWriter, r *http.Request) {
		status, err := store.tellLogout(r.FormValue("sub"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.WriteHeader(status)
	})
	return mux, nil
}

// store adds to the example's storage what a company's provider has: claims, keys that change, a client whose settings
// are arguments.
type store struct {
	*storage.Storage
	settings
	keyring
	claims    map[string]map[string]any
	clientJWK *jose.JSONWebKey
}

func (s *store) readFiles() error {
	text, err := os.ReadFile(s.users)
	if err != nil {
		return err
	}
	people := map[string]struct{ Claims map[string]any }{}
	if err := json.Unmarshal(text, &people); err != nil {
		return err
	}
	s.claims = map[string]map[string]any{}
	for id, person := range people {
		s.claims[id] = person.Claims
	}
	if s.clientKey == "" {
		return nil
	}
	if text, err = os.ReadFile(s.clientKey); err != nil {
		return err
	}
	s.clientJWK = new(jose.JSONWebKey)
	return json.Unmarshal(text, s.clientJWK)
}

// client is the example's client with another proof and an address for after the logout, for which the example has no
// arguments.
type client struct {
	op.Client
	method      oidc.AuthMethod
	afterLogout []string
}

func (c client) AuthMethod() oidc.AuthMethod { return c.method }

func (c client) PostLogoutRedirectURIs() []string { return c.afterLogout }

func (s *store) GetClientByClientID(ctx context.Context, id string) (op.Client, error) {
	found, err := s.Storage.GetClientByClientID(ctx, id)
	if err != nil {
		return nil, err
	}
	return client{found, oidc.AuthMethod(s.method), []string{s.afterLogout}}, nil
}

// GetKeyByIDAndClientID returns the client's public key by its name, as the example and the product Zitadel do: a proof
// that does not name its key is refused.
func (s *store) GetKeyByIDAndClientID(_ context.Context, keyID, clientID string) (*jose.JSONWebKey, error) {
	if s.clientJWK == nil || keyID != s.clientJWK.KeyID || clientID != s.clientID {
		return nil, fmt.Errorf("the client %q has no key %q", clientID, keyID)
	}
	return s.clientJWK, nil
}

// SetUserinfoFromToken adds the person's claims to the profile. The identity token is without them, as with many
// providers.
func (s *store) SetUserinfoFromToken(ctx context.Context, info *oidc.UserInfo, tokenID, subject, origin string) error {
	if err := s.Storage.SetUserinfoFromToken(ctx, info, tokenID, subject, origin); err != nil {
		return err
	}
	for name, value := range s.claims[subject] {
		info.AppendClaims(name, value)
	}
	return nil
}
