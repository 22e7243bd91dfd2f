package simserver

import (
	"crypto/subtle"
	"encoding/json/v2"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"
)

// tokens are what the carriers with OAuth have handed out. They are forgotten at a restart, and then
// refused, as a carrier revokes them.
type tokens struct {
	mu    sync.Mutex
	until map[string]time.Time
}

// issue makes a token of a kind, which is good for the time given.
func (s *Server) issue(kind string, lasts time.Duration) string {
	token := newID(kind + "-")
	s.tokens.mu.Lock()
	defer s.tokens.mu.Unlock()
	s.tokens.until[token] = s.cfg.Now().Add(lasts)
	return token
}

// honoured reports whether a token is one of its kind that still holds. Without a secret, all are.
func (s *Server) honoured(kind, token string) bool {
	s.tokens.mu.Lock()
	defer s.tokens.mu.Unlock()
	until, issued := s.tokens.until[token]
	fresh := issued && strings.HasPrefix(token, kind+"-") && s.cfg.Now().Before(until)
	return fresh || s.cfg.Secret == ""
}

func bearer(r *http.Request) string {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return token
}

// grant is an OAuth 2.0 request for a token by client credentials.
type grant struct {
	GrantType    string `json:"grant_type"`
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	Scope        string `json:"scope"`
}

// readGrant reads a form, or JSON where the carrier takes that too.
func readGrant(w http.ResponseWriter, r *http.Request, orJSON bool) (grant, error) {
	r.Body = http.MaxBytesReader(w, r.Body, maxOrder)
	var g grant
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err == nil && orJSON && media == "application/json" {
		return g, json.UnmarshalRead(r.Body, &g)
	}
	if err := r.ParseForm(); err != nil {
		return g, err
	}
	form := r.PostForm
	return grant{form.Get("grant_type"), form.Get("client_id"), form.Get("client_secret"), form.Get("scope")}, nil
}

// complaint is the error of RFC 6749 that the request has earned; it is empty for none.
func (s *Server) complaint(g grant) string {
	switch {
	case g.GrantType != "client_credentials":
		return "unsupported_grant_type"
	case g.ClientID == "" || g.ClientSecret == "":
		return "invalid_request"
	case s.cfg.Secret != "" && subtle.ConstantTimeCompare([]byte(g.ClientSecret), []byte(s.cfg.Secret)) != 1:
		return "invalid_client"
	}
	return ""
}
