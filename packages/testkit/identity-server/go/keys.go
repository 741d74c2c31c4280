package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/zitadel/oidc/v3/pkg/crypto"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// keyring holds the key that signs now. A key that it replaced is withdrawn at once.
type keyring struct {
	lock sync.Mutex
	key  key
}

type key struct {
	id        string
	algorithm jose.SignatureAlgorithm
	private   any
	public    any
}

// signer and published are the two sides of a key, whose methods the library calls by the same name.
type signer struct{ key }

func (s signer) ID() string                                  { return s.id }
func (s signer) SignatureAlgorithm() jose.SignatureAlgorithm { return s.algorithm }
func (s signer) Key() any                                    { return s.private }

type published struct{ key }

func (p published) ID() string                         { return p.id }
func (p published) Algorithm() jose.SignatureAlgorithm { return p.algorithm }
func (p published) Use() string                        { return "sig" }
func (p published) Key() any                           { return p.public }

// addKey makes the next key.
func (s *store) addKey() error {
	made := key{id: rand.Text(), algorithm: jose.SignatureAlgorithm(s.algorithm)}
	switch made.algorithm {
	case jose.RS256, jose.PS256:
		private, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			return err
		}
		made.private, made.public = private, &private.PublicKey
	case jose.ES256:
		private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return err
		}
		made.private, made.public = private, &private.PublicKey
	case jose.EdDSA:
		public, private, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			return err
		}
		made.private, made.public = private, public
	case jose.HS256:
		// The client's secret signs; a symmetric key is never published.
		made.private = []byte(s.secret)
	default:
		return fmt.Errorf("there is no key for %s", made.algorithm)
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	s.key = made
	return nil
}

func (s *store) current() key {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.key
}

func (s *store) SigningKey(context.Context) (op.SigningKey, error) {
	return signer{s.current()}, nil
}

func (s *store) SignatureAlgorithms(context.Context) ([]jose.SignatureAlgorithm, error) {
	return []jose.SignatureAlgorithm{s.current().algorithm}, nil
}

func (s *store) KeySet(context.Context) ([]op.Key, error) {
	if key := s.current(); key.public != nil {
		return []op.Key{published{key}}, nil
	}
	return nil, nil
}

// tellLogout tells the client that the person's session has ended (OpenID Connect Back-Channel Logout), and returns what
// the client answers.
func (s *store) tellLogout(subject string) (int, error) {
	sign, err := op.SignerFromKey(signer{s.current()})
	if err != nil {
		return 0, err
	}
	ends := time.Now().Add(time.Minute)
	claims := oidc.NewLogoutTokenClaims(s.issuer, subject, oidc.Audience{s.clientID}, ends, rand.Text(), "", 0)
	token, err := crypto.Sign(claims, sign)
	if err != nil {
		return 0, err
	}
	answer, err := http.PostForm(s.backchannel, url.Values{"logout_token": {token}})
	if err != nil {
		return 0, err
	}
	return answer.StatusCode, answer.Body.Close()
}
