# All of Waybill's programs in one image: api, worker, reconcile, carriersim. Name the one to run:
#   docker run --rm waybill api --help
# Both base images can be replaced: --build-arg GO_IMAGE=…
ARG GO_IMAGE=golang:1.27.3
ARG BASE_IMAGE=scratch
# What --version prints.
ARG VERSION=unknown

FROM ${GO_IMAGE} AS build
ENV CGO_ENABLED=0 GOTOOLCHAIN=local
WORKDIR /src
# Modules in a layer of their own: they change less often than the code.
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION
RUN go build -trimpath -buildvcs=false -ldflags "-s -w -X waybill/internal/command.Version=${VERSION}" -o /out/usr/local/bin/ \
        ./cmd/api ./cmd/worker ./cmd/reconcile ./cmd/carriersim
# Carriers and databases are reached over TLS, and an empty image knows no authority.
RUN mkdir -p /out/etc/ssl/certs && cp /etc/ssl/certs/ca-certificates.crt /out/etc/ssl/certs/
# A new volume takes its owner from the folder it covers: carriersim keeps its ledger in /data.
RUN mkdir -p /owned/data

FROM ${BASE_IMAGE}
COPY --from=build /out/ /
COPY --from=build --chown=65532:65532 /owned/ /
ENV PATH=/usr/local/bin
# Nobody: no account has this number.
USER 65532:65532
